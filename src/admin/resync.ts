import { mongo } from 'mongoose';
import { COLLECTION_OF, FIRST_ID, type Kind, stampAnew, type Tenant } from '../record/index.js';
import { LEDGER } from '../replication/ledger/index.js';
import { ofTenant } from './import/index.js';

/** All of a bulk have one `$$NOW`, so a longer one would be late for every mark that is raised meanwhile. */
const AT_ONCE = 1000;

/** Whose records are stamped. */
export interface ResyncScope {
  tenant: Tenant;
  kind: Kind;
}

export interface ResyncOptions {
  /** Aborted to end early; what is stamped stays. */
  stop: AbortSignal;
  /** Told after each bulk how many records and hard deletes are done. */
  onProgress: (done: number) => void;
}

/** What was stamped anew. */
export interface ResyncSummary {
  records: number;
  tombstones: number;
}

/** What is stamped: the query, and the index along which it is walked. */
interface Stretch {
  collection: mongo.Collection;
  query: mongo.Filter<mongo.Document>;
  along: Record<string, 1>;
}

/** How many records and hard deletes there are to stamp. */
export async function resyncSize(db: mongo.Db, scope: ResyncScope): Promise<number> {
  const stretches = [recordsOf(db, scope), tombstonesOf(db, scope)];
  const sizes = stretches.map(({ collection, query, along }) =>
    collection.countDocuments(query, { hint: along }),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Stamps every record of an application and kind anew, and its tombstones, so that consumers receive all of them again.
 * What cannot take a stamp, since it is full or its collection forbids it, keeps the one it has and is not counted. Needs
 * the indexes to stand. Can be repeated where it was cut off.
 */
export async function resyncRecords(
  db: mongo.Db,
  scope: ResyncScope,
  { stop, onProgress }: ResyncOptions,
): Promise<ResyncSummary> {
  let done = 0;
  const advance = (count: number) => onProgress((done += count));
  return {
    records: await stampAll(recordsOf(db, scope), stop, advance),
    tombstones: await stampAll(tombstonesOf(db, scope), stop, advance),
  };
}

function recordsOf(db: mongo.Db, { tenant, kind }: ResyncScope): Stretch {
  const along = { organizationid: 1, appid: 1, _id: 1 } as const;
  return { collection: db.collection(COLLECTION_OF[kind]), query: ofTenant(tenant), along };
}

function tombstonesOf(db: mongo.Db, { tenant, kind }: ResyncScope): Stretch {
  const { organizationid, appid } = tenant;
  const along = { organizationid: 1, appid: 1, kind: 1, _id: 1 } as const;
  return { collection: db.collection(LEDGER), query: { organizationid, appid, kind, alive: false }, along };
}

async function stampAll(
  { collection, query, along }: Stretch,
  stop: AbortSignal,
  advance: (count: number) => void,
): Promise<number> {
  let stamped = 0;
  for (let behind: mongo.ObjectId | undefined = FIRST_ID; !stop.aborted;) {
    const found = await collection
      .find(
        { ...query, _id: { $gt: behind } },
        { projection: { _id: 1 }, hint: along, sort: { _id: 1 }, limit: AT_ONCE },
      )
      .toArray();
    const ids = found.map(({ _id }) => _id);
    behind = ids.at(-1);
    if (behind === undefined) break;
    stamped += await stampAnew(collection, ids, { where: query }, () => undefined);
    advance(ids.length);
  }
  return stamped;
}
