import type { mongo } from 'mongoose';
import { within } from '../../common/index.js';

const READ_MS = 2000;
/** What another program has stamped ahead of the clock is later than what was stamped just now. */
const NOT_AHEAD = { $expr: { $lte: ['$lastupdated', '$$NOW'] } };

interface Read {
  _id: mongo.ObjectId;
  lastupdated: Date;
}

/**
 * Which of a bulk were stamped just now, where so many of them were and the others had a good stamp already: those that
 * have the greatest stamp in common, since all of one bulk get the same, and a later one than the others had. Undefined where
 * their number is another, as when somebody wrote in between, or where they cannot be read: a note is not worth more.
 */
export async function stampedAmong(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamped: number,
): Promise<mongo.ObjectId[] | undefined> {
  const query = { $and: [{ _id: { $in: ids } }, { lastupdated: { $type: 'date' } }, NOT_AHEAD] };
  const reading = collection.find(query, { projection: { lastupdated: 1 }, maxTimeMS: READ_MS }).toArray();
  const found = await within(2 * READ_MS, 'A look at what was stamped', reading).catch(() => []);
  const latest = latestOf(found as unknown as Read[]);
  return latest.length === stamped ? latest : undefined;
}

/** Those that share the greatest stamp. */
function latestOf(found: Read[]): mongo.ObjectId[] {
  const times = found.map(({ lastupdated }) => Number(lastupdated));
  const greatest = times.reduce((one, other) => Math.max(one, other), -Infinity);
  return found.filter((_, place) => times[place] === greatest).map(({ _id }) => _id);
}
