import { mongo } from 'mongoose';
import { alongIndex, type IndexFields } from '../database/index.js';
import {
  COLLECTION_OF,
  type Kind,
  RecordsHeldError,
  stampAnew,
  type Tenant,
  ofTenant,
} from '../record/index.js';
import { LEDGER } from '../replication/ledger/index.js';
import { NO_TERM } from '../replication/progress/index.js';
import { type RestampBook, writeRestamps } from '../replication/stamping/index.js';
import { inStretch, nextStretch, STRETCH_MS, walk } from '../replication/walk/index.js';

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
  /** In which it is noted what was stamped. */
  book: RestampBook;
}

/** What was stamped anew. */
export interface ResyncSummary {
  records: number;
  tombstones: number;
  /** What could not be, where there is any: those keep the stamp that they have. */
  refused?: number;
}

/** What is stamped: the query, and the index along which it is walked. */
interface Ground {
  collection: mongo.Collection;
  query: mongo.Filter<mongo.Document>;
  along: IndexFields;
}

/** How many records and hard deletes there are to stamp. */
export async function resyncSize(db: mongo.Db, scope: ResyncScope): Promise<number> {
  const stretches = [recordsOf(db, scope), tombstonesOf(db, scope)];
  const sizes = stretches.map(({ collection, query, along }) =>
    alongIndex(collection, along, (hint) => collection.countDocuments(query, { hint })),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Stamps every record of an application and kind anew, and its tombstones, so that consumers receive all of them again.
 * What cannot take a stamp, since it is full or its collection forbids it, keeps the one it has and is counted as refused.
 * Needs the indexes to stand. Can be repeated where it was cut off.
 */
export async function resyncRecords(
  db: mongo.Db,
  scope: ResyncScope,
  { stop, onProgress, book }: ResyncOptions,
): Promise<ResyncSummary> {
  let done = 0;
  const advance = (count: number) => onProgress((done += count));
  const note = async (collection: string, ids: mongo.ObjectId[], stamped: number) => {
    book.note({ collection, reason: 'resync', ids, stamped });
    await writeRestamps(db, book).catch(() => undefined);
  };
  const beside = { stop, advance, note };
  const records = await stampAll(recordsOf(db, scope), beside);
  const tombstones = await stampAll(tombstonesOf(db, scope), beside);
  const refused = records.refused + tombstones.refused;
  return { records: records.stamped, tombstones: tombstones.stamped, ...(refused > 0 && { refused }) };
}

/** What goes along with the stamping. */
interface Beside {
  stop: AbortSignal;
  advance: (count: number) => void;
  /** Notes a bulk that was stamped; what cannot be noted is forgotten. */
  note: (collection: string, ids: mongo.ObjectId[], stamped: number) => Promise<void>;
}

function recordsOf(db: mongo.Db, { tenant, kind }: ResyncScope): Ground {
  const along = { organizationid: 1, appid: 1, _id: 1 } as const;
  return { collection: db.collection(COLLECTION_OF[kind]), query: ofTenant(tenant), along };
}

function tombstonesOf(db: mongo.Db, { tenant, kind }: ResyncScope): Ground {
  const { organizationid, appid } = tenant;
  const along = { organizationid: 1, appid: 1, kind: 1, _id: 1 } as const;
  return { collection: db.collection(LEDGER), query: { organizationid, appid, kind, alive: false }, along };
}

async function stampAll(
  { collection, query, along }: Ground,
  { stop, advance, note }: Beside,
): Promise<{ stamped: number; refused: number }> {
  const way = { key: '_id', among: query, along };
  const done = { stamped: 0, refused: 0 };
  await walk(undefined, {
    next: (behind, most) =>
      nextStretch(collection, way, { behind, most: Math.min(most, AT_ONCE), maxTimeMS: STRETCH_MS }),
    work: async (stretch) => {
      const where = { ...query, _id: inStretch(stretch) };
      const found = await alongIndex(collection, along, (hint) =>
        collection.find(where, { projection: { _id: 1 }, hint }).toArray(),
      );
      const ids = found.map(({ _id }) => _id);
      if (ids.length === 0) return;
      const { stamped, refused, held } = await stampAnew(collection, ids, { where: query });
      if (held.length > 0) throw new RecordsHeldError(held);
      done.stamped += stamped;
      done.refused += refused.length;
      await note(collection.collectionName, ids, stamped);
    },
    advance: ({ count }) => Promise.resolve(advance(count)),
    leave: () => Promise.resolve(),
    stop,
    term: NO_TERM,
  });
  return done;
}
