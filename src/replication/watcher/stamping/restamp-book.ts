import mongoose, { type mongo } from 'mongoose';
import type { RestampReason } from '../../protocol/index.js';
import { type EditedService, type RestampGap, type RestampNote, RESTAMPS } from '../collections.schema.js';

const BUDGET_DAY_MS = 86_400_000;
/** Maximum number of `_id`s of one reason that are noted at once, such as for a filter that moves a million records. */
export const AT_ONCE_MOST = 1_000_000;
/** Maximum number of `_id`s of one reason in the collection, in addition to the above, for any retention period. */
export const KEPT_MOST = 10_000_000;

interface Allowance {
  left: number;
  at: number;
}

/**
 * Limits how much is noted. A program that keeps the watcher stamping for weeks would fill the disk, because notes are
 * removed only by age. So each reason has its own budget, which refills as slowly as notes are removed.
 */
export class RestampBudget {
  private readonly allowances = new Map<RestampReason, Allowance>();
  /** `_id`s per millisecond. */
  private readonly refill: number;

  constructor(days: number) {
    this.refill = KEPT_MOST / (days * BUDGET_DAY_MS);
  }

  /** Whether this many `_id`s may be noted at this time (milliseconds). If so, they count against the budget. */
  spend(reason: RestampReason, count: number, now: number): boolean {
    const { left, at } = this.allowances.get(reason) ?? { left: AT_ONCE_MOST, at: now };
    const full = Math.min(AT_ONCE_MOST, left + Math.max(0, now - at) * this.refill);
    const isEnough = full >= count;
    this.allowances.set(reason, { left: isEnough ? full - count : full, at: now });
    return isEnough;
  }
}

const { ObjectId } = mongoose.mongo;
const DAY_MS = 86_400_000;
const MOST_IDS = 1000;
/** Maximum number of `_id`s that wait to be written: about 10 MB. */
const MOST_WAITING = 100_000;
const HOUR = 'YYYY-MM-DDTHH'.length;

/** A bulk that was stamped anew. */
export interface StampedBulk {
  collection: string;
  reason: RestampReason;
  /** At most 1,000. */
  ids: mongo.ObjectId[];
  /** How many of them were stamped. */
  stamped: number;
  service?: EditedService | undefined;
}

type Write = mongo.AnyBulkWriteOperation<RestampNote | RestampGap>;
type Uncounted = Pick<RestampGap, 'reason' | 'from' | 'until' | 'count'>;

/**
 * Re-stamps that are to be noted. Bulks that wait together become one note if they have the same collection, reason,
 * service and certainty, so that a record that is stamped a thousand times a second is noted once.
 */
export class RestampBook {
  private readonly budget: RestampBudget;
  private notes: RestampNote[] = [];
  private open = new Map<string, RestampNote>();
  private gaps = new Map<string, Uncounted>();
  private waiting = 0;

  /** `days` is how long notes are kept. With 0, nothing is noted. */
  constructor(private readonly days: number) {
    this.budget = new RestampBudget(days);
  }

  /** If fewer documents were stamped than `ids` contains, it is unknown which ones, so all are noted as uncertain. */
  note({ collection, reason, ids, stamped, service }: StampedBulk, now = Date.now()): void {
    if (this.days === 0 || stamped === 0) return;
    if (this.waiting + ids.length > MOST_WAITING) return this.leaveOut(reason, stamped, now);
    this.waiting += ids.length;
    const isCertain = stamped === ids.length;
    const key = JSON.stringify([collection, reason, isCertain, service]);
    const open = this.open.get(key);
    if (open !== undefined && open.ids.length + ids.length <= MOST_IDS) {
      open.ids.push(...ids);
      return;
    }
    const note = { _id: new ObjectId(), at: new Date(now), reason, collection, ids: [...ids], isCertain };
    const whole = { ...note, ...(service && { service }), expires: this.expiry(now) };
    this.open.set(key, whole);
    this.notes.push(whole);
  }

  /**
   * Returns the writes of the waiting notes that the budget permits, and of the gaps, which count the others. Empties
   * the book.
   */
  take(now = Date.now()): Write[] {
    const { notes } = this;
    this.notes = [];
    this.open = new Map();
    this.waiting = 0;
    const writes = notes.flatMap((note): Write[] => {
      const ids = distinct(note.ids);
      if (this.budget.spend(note.reason, ids.length + 1, now))
        return [{ insertOne: { document: { ...note, ids } } }];
      this.leaveOut(note.reason, ids.length, note.at.getTime());
      return [];
    });
    const gaps = [...this.gaps].map(([_id, gap]) => this.gapWrite(_id, gap));
    this.gaps = new Map();
    return [...writes, ...gaps];
  }

  private leaveOut(reason: RestampReason, count: number, now: number): void {
    const at = new Date(now);
    const _id = `${at.toISOString().slice(0, HOUR)} ${reason}`;
    const gap = this.gaps.get(_id) ?? { reason, from: at, until: at, count: 0 };
    this.gaps.set(_id, { ...gap, until: at, count: gap.count + count });
  }

  private gapWrite(_id: string, { reason, from, until, count }: Uncounted): Write {
    const expires = this.expiry(until.getTime());
    const update = { $setOnInsert: { reason }, $min: { from }, $max: { until, expires }, $inc: { count } };
    return { updateOne: { filter: { _id }, update, upsert: true } };
  }

  private expiry(now: number): Date {
    return new Date(now + this.days * DAY_MS);
  }
}

/** Writes the waiting notes of the book. Notes that cannot be written are lost. */
export async function writeRestamps(db: mongo.Db, book: RestampBook): Promise<void> {
  const writes = book.take();
  if (writes.length === 0) return;
  await db.collection<RestampNote | RestampGap>(RESTAMPS).bulkWrite(writes, { ordered: false });
}

function distinct(ids: mongo.ObjectId[]): mongo.ObjectId[] {
  return [...new Map(ids.map((id) => [id.toHexString(), id])).values()];
}

const READ_MS = 5000;

/** Documents of one collection, by their `_id`. */
interface Stamped {
  collection: string;
  ids: mongo.ObjectId[];
}

/** The newest notes that contain one of these documents, newest first, without the lists of `_id`s. */
export async function restampsOf(
  db: mongo.Db,
  stamped: Stamped[],
  limit: number,
): Promise<Omit<RestampNote, 'ids' | 'expires'>[]> {
  const branches = stamped.flatMap(({ collection, ids }) => ids.map((id) => ({ ids: id, collection })));
  if (branches.length === 0) return [];
  const options = {
    sort: { at: -1 },
    limit,
    projection: { ids: 0, expires: 0 },
    maxTimeMS: READ_MS,
  } as const;
  return db.collection<RestampNote>(RESTAMPS).find({ $or: branches }, options).toArray();
}

/** The newest periods in which not everything was noted, newest first. Unlike notes, they have a string as their `_id`. */
export async function restampGaps(db: mongo.Db, limit: number): Promise<Omit<RestampGap, 'expires'>[]> {
  const options = { sort: { _id: -1 }, limit, projection: { expires: 0 }, maxTimeMS: READ_MS } as const;
  return db
    .collection<RestampGap>(RESTAMPS)
    .find({ _id: { $type: 'string' } }, options)
    .toArray();
}
