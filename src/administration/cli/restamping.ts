import mongoose, { type mongo } from 'mongoose';
import { pause } from '../../platform/common/index.js';
import { alongIndex, type IndexFields, statedIndex } from '../../platform/database/plain.js';
import { recordsIn, BY_STAMP, ofTenant, stampAnew } from '../../record/index.js';
import {
  LEDGER,
  NO_TERM,
  inRange,
  nextRange,
  RANGE_MS,
  TOMBSTONES_BY_STAMP,
  walk,
} from '../../replication/store/plain.js';
import type { Concern } from '../../replication/store/index.js';
import { type RestampBook, writeRestamps } from '../../replication/watcher/plain.js';
import type { RecordScope } from '../plain.js';
import type { NotStampedCollector } from './not-stamped.js';

const { EJSON } = mongoose.mongo.BSON;

/**
 * Maximum number of documents in a bulk. All get the same `$$NOW`, so the longer a bulk takes, the more likely it is
 * that the mark is raised above its stamps before it is committed.
 */
const AT_ONCE = 1000;
/** How long to retry documents that transactions of other programs hold, after all others are stamped, in ms. */
const PATIENCE_MS = 5000;
const BETWEEN_TRIES_MS = 500;
/** Written in a transaction that is aborted, so no reader sees it. */
const TRIAL = { $set: { 'tidemark-trial': true } };
const TRIAL_MS = 1000;

/** The stamps between two times, both exclusive. */
export interface Between {
  after: Date;
  until: Date;
}

interface ResyncOptions {
  /** Stamps only documents whose stamp lies between these times. */
  between?: Between;
  /** Aborted to end early; documents that are already stamped stay stamped. */
  stop: AbortSignal;
  /** Called after each bulk with the number of records and hard deletes done so far. */
  onProgress: (done: number) => void;
  /** Records which documents were stamped. */
  book: RestampBook;
  /** Collects what could not be stamped. */
  notStamped: NotStampedCollector;
}

/** The numbers of records and hard deletes that were stamped. */
export interface Stamped {
  records: number;
  tombstones: number;
}

/** The documents to stamp: the query, and the index along which it is read. */
interface Ground {
  client: mongo.MongoClient;
  collection: mongo.Collection;
  query: mongo.Filter<mongo.Document>;
  along: IndexFields;
  concern: (owner: mongo.ObjectId) => Concern;
}

/** A document, and its stamp before the resync. */
interface Seen {
  _id: mongo.ObjectId;
  lastupdated?: unknown;
}

/** The number of records and hard deletes to stamp. */
export async function resyncSize(db: mongo.Db, scope: RecordScope): Promise<number> {
  const ranges = [recordsOf(db, scope), tombstonesOf(db, scope)];
  const sizes = ranges.map(({ collection, query, along }) =>
    alongIndex(collection, along, (hint) => collection.countDocuments(query, { hint })),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Re-stamps every record of an application and kind, and its tombstones, so that consumers receive all of them again. A
 * document that cannot take a stamp, because it is too large, its collection forbids it or a transaction holds it, is
 * quarantined: the service stamps it as soon as it can. Requires the indexes. An interrupted resync can be repeated.
 */
export async function resyncRecords(
  db: mongo.Db,
  scope: RecordScope,
  { between, stop, onProgress, book, notStamped }: ResyncOptions,
): Promise<Stamped> {
  let done = 0;
  const advance = (count: number) => onProgress((done += count));
  const note = async (collection: string, ids: mongo.ObjectId[], stamped: number) => {
    book.note({ collection, reason: 'resync', ids, stamped });
    await writeRestamps(db, book).catch(() => undefined);
  };
  const beside = { stop, advance, note, notStamped };
  const records = await new Restamping(narrowed(recordsOf(db, scope), BY_STAMP, between), beside).run();
  const tombstones = await new Restamping(
    narrowed(tombstonesOf(db, scope), TOMBSTONES_BY_STAMP, between),
    beside,
  ).run();
  return { records, tombstones };
}

function narrowed(ground: Ground, along: IndexFields, between: Between | undefined): Ground {
  if (between === undefined) return ground;
  const lastupdated = { $gt: between.after, $lt: between.until };
  return { ...ground, query: { ...ground.query, lastupdated }, along };
}

/** What all stampings of a resync share. */
interface Beside {
  stop: AbortSignal;
  advance: (count: number) => void;
  /** Records a stamped bulk. Failures to record it are ignored. */
  note: (collection: string, ids: mongo.ObjectId[], stamped: number) => Promise<void>;
  notStamped: NotStampedCollector;
}

function recordsOf(db: mongo.Db, { tenant, kind }: RecordScope): Ground {
  const along = { organizationid: 1, appid: 1, _id: 1 } as const;
  const concern = (owner: mongo.ObjectId): Concern => ({ what: 'record', kind, owner });
  const collection = recordsIn(db, kind);
  return { client: db.client, collection, query: ofTenant(tenant), along, concern };
}

function tombstonesOf(db: mongo.Db, { tenant, kind }: RecordScope): Ground {
  const { organizationid, appid } = tenant;
  const along = { organizationid: 1, appid: 1, kind: 1, _id: 1 } as const;
  const query = { organizationid, appid, kind, alive: false };
  const concern = (owner: mongo.ObjectId): Concern => ({ what: 'tombstone', owner });
  return { client: db.client, collection: db.collection(LEDGER), query, along, concern };
}

/** Stamps all documents of one {@link Ground}. */
class Restamping {
  private stamped = 0;
  private held: Seen[] = [];

  constructor(
    private readonly ground: Ground,
    private readonly beside: Beside,
  ) {}

  /** Returns the number of stamped documents. */
  async run(): Promise<number> {
    if ('lastupdated' in this.ground.query) await this.throughStamps();
    else await this.throughIds();
    const held = await this.triedAgain();
    await this.beside.notStamped.held(
      this.ground,
      held.map(({ _id }) => _id),
    );
    return this.stamped;
  }

  /** Reads along the index of stamps. A new stamp lies outside of the wanted range, so no document is stamped twice. */
  private async throughStamps(): Promise<void> {
    const { collection, query, along } = this.ground;
    const { stop, advance } = this.beside;
    const hint = await statedIndex(collection, along);
    const found = collection.find<Seen>(query, { projection: { lastupdated: 1 }, hint, batchSize: AT_ONCE });
    try {
      while (!stop.aborted && (await found.hasNext())) {
        const some = found.readBufferedDocuments(AT_ONCE);
        this.held.push(...(await this.stamp(some)));
        advance(some.length);
      }
    } finally {
      await found.close();
    }
  }

  private async throughIds(): Promise<void> {
    const { collection, query, along } = this.ground;
    const { stop, advance, notStamped } = this.beside;
    const way = { key: '_id', among: query, along };
    await walk(undefined, {
      next: (behind, most) =>
        nextRange(collection, way, { behind, most: Math.min(most, AT_ONCE), maxTimeMS: RANGE_MS }),
      work: async (range) => {
        const where = { ...query, _id: inRange(range) };
        const found = await alongIndex(collection, along, (hint) =>
          collection.find<Seen>(where, { projection: { lastupdated: 1 }, hint }).toArray(),
        );
        if (found.length > 0) this.held.push(...(await this.stamp(found)));
      },
      advance: ({ count }) => Promise.resolve(advance(count)),
      leave: ({ end: _id }, { message: reason }) => notStamped.refused(this.ground, [{ _id, reason }]),
      stop,
      term: NO_TERM,
    });
  }

  /** Returns the documents that other transactions hold. */
  private async stamp(some: Seen[]): Promise<Seen[]> {
    const { collection, query } = this.ground;
    const ids = some.map(({ _id }) => _id);
    const { stamped, refused, held } = await stampAnew(collection, ids, { where: query });
    await this.beside.notStamped.refused(this.ground, refused);
    this.stamped += stamped;
    const without = new Set([...refused.map(({ _id }) => _id), ...held].map(String));
    const tried = ids.filter((_id) => !without.has(String(_id)));
    await this.beside.note(collection.collectionName, tried, stamped);
    const areHeld = new Set(held.map(String));
    return some.filter(({ _id }) => areHeld.has(String(_id)));
  }

  /** Returns the documents that are still held after {@link PATIENCE_MS}, or when stopped. */
  private async triedAgain(): Promise<Seen[]> {
    const end = performance.now() + PATIENCE_MS;
    const isOver = () => this.beside.stop.aborted || performance.now() > end;
    let held = await this.unchanged(this.held);
    while (held.length > 0) {
      const { client, collection } = this.ground;
      const ids = held.map(({ _id }) => _id);
      const areFree = new Set((await freeAmong(client, collection, ids, isOver)).map(String));
      const free = held.filter(({ _id }) => areFree.has(String(_id)));
      const still = held.filter(({ _id }) => !areFree.has(String(_id)));
      for (let start = 0; start < free.length; start += AT_ONCE)
        still.push(...(await this.stamp(free.slice(start, start + AT_ONCE))));
      held = await this.unchanged(still);
      if (isOver()) break;
      if (held.length > 0) await pause(BETWEEN_TRIES_MS, this.beside.stop);
    }
    return held;
  }

  /**
   * Returns the documents whose stamp is the same as before. Some documents of a bulk that was held may have been
   * stamped after all: they are not retried, and are counted unless their new stamp lies outside of the wanted range.
   */
  private async unchanged(held: Seen[]): Promise<Seen[]> {
    const { collection, query } = this.ground;
    const same: Seen[] = [];
    for (let start = 0; start < held.length; start += AT_ONCE) {
      const some = held.slice(start, start + AT_ONCE);
      const where = { ...query, _id: { $in: some.map(({ _id }) => _id) } };
      const found = await collection.find<Seen>(where, { projection: { lastupdated: 1 } }).toArray();
      const before = new Map(some.map((one) => [String(one._id), one]));
      for (const now of found) {
        const was = before.get(String(now._id))!;
        if (stampOf(now) === stampOf(was)) same.push(was);
        else this.stamped += 1;
      }
    }
    return same;
  }
}

/** A stored stamp may have any type. */
function stampOf({ lastupdated }: Seen): string {
  return EJSON.stringify({ lastupdated }, { relaxed: false });
}

/**
 * Returns the documents that no transaction of another program holds, as far as they were tried before the stop.
 * Outside a transaction, a write to a held document waits; within one, it fails at once with a conflict. Any other
 * failure means that the document is not held.
 */
async function freeAmong(
  client: mongo.MongoClient,
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stop: () => boolean,
): Promise<mongo.ObjectId[]> {
  const free: mongo.ObjectId[] = [];
  await client.withSession(async (session) => {
    for (const _id of ids) {
      if (stop()) return;
      if (await isFree(session, collection, _id)) free.push(_id);
    }
  });
  return free;
}

async function isFree(
  session: mongo.ClientSession,
  collection: mongo.Collection,
  _id: mongo.ObjectId,
): Promise<boolean> {
  session.startTransaction();
  try {
    await collection.updateOne({ _id }, TRIAL, { session, maxTimeMS: TRIAL_MS });
    return true;
  } catch (error) {
    return !(error as mongo.MongoError).hasErrorLabel?.('TransientTransactionError');
  } finally {
    await session.abortTransaction();
  }
}
