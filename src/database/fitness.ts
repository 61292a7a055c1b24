import mongoose from 'mongoose';
import type { AnyModel } from './models.js';

const HISTORY = 'minSnapshotHistoryWindowInSeconds';

/** What an operator has to do where the server keeps no history for reads as of one moment, without the end of the sentence. */
export const NO_HISTORY =
  `This MongoDB keeps no history for reads as of one moment (${HISTORY} is 0): set it to 300, its default, with ` +
  `db.adminCommand({ setParameter: 1, ${HISTORY}: 300 })`;

/** A collection as the server lists it. */
interface Listed {
  name: string;
  type?: string;
  options?: { capped?: boolean; collation?: object };
}

/**
 * Why the service cannot keep its promises on this database, and what an operator has to do, in one sentence without its
 * end; undefined where it can. Throws where the database does not answer.
 */
export async function unfitness(db: mongoose.mongo.Db, models: AnyModel[]): Promise<string | undefined> {
  const names = models.map(({ collection }) => collection.collectionName);
  const listed = await db.listCollections({ name: { $in: names } }).toArray();
  for (const one of listed as Listed[]) {
    const flaw = flawOf(one);
    if (flaw !== undefined)
      return `The collection ${one.name} ${flaw}. Put an ordinary collection with its documents in its place`;
  }
  return (await historySeconds(db)) === 0 ? NO_HISTORY : undefined;
}

function flawOf({ type, options = {} }: Listed): string | undefined {
  if (type === 'view') return 'is a view, whose changes MongoDB does not tell';
  if (type === 'timeseries') return 'is a time series, whose changes MongoDB does not tell';
  if (options.capped === true)
    return 'is capped: MongoDB removes its oldest documents by itself and does not tell of it';
  if (options.collation !== undefined)
    return 'has a collation, by which different texts may be equal, such as "acme" and "ACME"';
  return undefined;
}

/** Undefined if the user lacks the right to ask, and on a mongos. */
async function historySeconds(db: mongoose.mongo.Db): Promise<unknown> {
  return db
    .admin()
    .command({ getParameter: 1, [HISTORY]: 1 })
    .then(
      (reply) => reply[HISTORY] as unknown,
      (error: unknown) => {
        if (error instanceof mongoose.mongo.MongoServerError) return undefined;
        throw error;
      },
    );
}
