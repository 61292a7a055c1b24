import fc from 'fast-check';
import mongoose from 'mongoose';
import { Metrics } from '../../../../src/platform/observability/index.js';
import { idsOf } from '../../../../src/replication/feed/query/window.js';
import { type ItemSizes, PageBytes } from '../../../../src/replication/feed/page/page-bytes.js';
import { PageReader, type PageReading } from '../../../../src/replication/feed/page/page-reader.js';
import type {
  BatchQuery,
  BatchReader,
  ReadBatch,
} from '../../../../src/replication/feed/query/batch-reader.js';
import { matching } from '../../../../src/replication/feed/query/selection.js';
import type { ReadSlot } from '../../../../src/replication/feed/query/window-lists.js';

const { BSON, ObjectId } = mongoose.mongo;
const TIMED_OUT = new mongoose.mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 });

/** A record of a window: whether the filter matches it, and how long the database takes over it. */
export interface StoredRecord {
  isMatch: boolean;
  isSlow: boolean;
}

/** How the database behaves: what one reply holds, how much a step may take, and whether the window is listed. */
export interface Behaviour {
  replyHolds: number;
  mostSlow: number;
  isListed: boolean;
  sizes: number;
}

export const anyRecord = fc.record({ isMatch: fc.boolean(), isSlow: fc.boolean() });
export const anyRecords = fc.array(anyRecord, { maxLength: 60 });
export const anyBehaviour = fc.record({
  replyHolds: fc.integer({ min: 1, max: 10 }),
  mostSlow: fc.integer({ min: 1, max: 5 }),
  isListed: fc.boolean(),
  sizes: fc.integer({ min: 1, max: 20 }),
});

export const idOf = (index: number) => new ObjectId(index.toString(16).padStart(24, '0'));

/** A page whose window holds these records and nothing else, with its reader, and what was asked of the database. */
export interface StoredPage {
  reader: PageReader;
  reading: PageReading;
  batches: Pick<BatchReader, 'read'>;
  taken: BatchQuery[];
}

/** A slot without competing reads. */
export const SLOT: ReadSlot = { without: (wait) => wait(), another: (_late, work) => work() };
export const AT = new mongoose.mongo.Timestamp({ t: 1, i: 1 });

export function pageFrom(records: StoredRecord[], behaviour: Behaviour): StoredPage {
  const taken: BatchQuery[] = [];
  const batches = {
    read: (query: BatchQuery) => (
      taken.push(query),
      Promise.resolve().then(() => stepOver(records, behaviour, query))
    ),
  };
  const sizes = { ofOneReply: () => behaviour.sizes, bytesOfOne: () => 1, learn: () => undefined };
  const reading: PageReading = {
    view: { at: AT, asOf: (read) => read(AT, SLOT) },
    feed: 'default',
    selection: matching({ organizationid: 'acme', appid: 'shop' }, 'product'),
    shape: { item: 'delete' },
    budget: new PageBytes(new Metrics(), { feedMemory: 64 * 1024 * 1024 }).open(
      new AbortController().signal,
      'reader',
    ),
    place: { lastoffsetid: undefined, items: 0 },
  };
  const reader = new PageReader(batches as unknown as BatchReader, sizes as unknown as ItemSizes);
  return { reader, reading, batches, taken };
}

/** What MongoDB would answer. */
function stepOver(
  records: StoredRecord[],
  behaviour: Behaviour,
  { window, replyLimit: limit, breadth }: BatchQuery,
): ReadBatch {
  const { lastoffsetid } = window;
  const first = lastoffsetid === undefined ? 0 : Number.parseInt(lastoffsetid.toHexString(), 16) + 1;
  const width = behaviour.isListed ? idsOf(breadth, limit) : (breadth.most ?? Infinity);
  const end = Math.min(first + width, records.length);
  const stretch = records.map((record, index) => ({ ...record, index })).slice(first, end);
  const slow = stretch.filter(({ isSlow }) => isSlow).length;
  if (slow > behaviour.mostSlow && stretch.length > 1) throw TIMED_OUT;
  const matches = stretch.filter(({ isMatch }) => isMatch).map(({ index }) => index);
  const found = matches.slice(0, Math.min(limit, behaviour.replyHolds));
  const isCut = found.length < matches.length || found.length === limit;
  const reached = isCut ? found.at(-1) : end < records.length ? end - 1 : undefined;
  const documents = found.map((index) => ({
    _id: idOf(index),
    id: `r${index}`,
    lastupdated: new Date(index),
  }));
  return {
    documents: BSON.serialize({ ...documents }),
    found: found.length,
    reached: reached === undefined ? undefined : idOf(reached),
  };
}
