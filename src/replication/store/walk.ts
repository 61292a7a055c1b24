import { mongo } from 'mongoose';
import {
  alongIndex,
  type IndexFields,
  isRefusedQuery,
  isTimeout,
  isUnfit,
} from '../../platform/database/plain.js';
import { FIRST_ID, RecordsHeldError } from '../../record/index.js';
import type { TermAtWork } from './term-life.js';

const MOST_IN_SLICE = 1000;
/**
 * A command is limited to 16 MiB, and UTF-8 encodes a UTF-16 code unit in up to three bytes. An `id` may have
 * megabytes.
 */
const MOST_CHARACTERS = 1_000_000;

/** Splits a list into slices that fit into a single command, even with very long `id`s of other programs. */
export function* inSlices<T>(items: T[], textOf: (item: T) => string, most = MOST_IN_SLICE): Generator<T[]> {
  let slice: T[] = [];
  let characters = 0;
  for (const item of items) {
    const { length } = textOf(item);
    if (slice.length > 0 && (slice.length >= most || characters + length > MOST_CHARACTERS)) {
      yield slice;
      slice = [];
      characters = 0;
    }
    slice.push(item);
    characters += length;
  }
  if (slice.length > 0) yield slice;
}

/** Like {@link inSlices}, for the results of a cursor. */
export async function* slicesOf<T>(
  cursor: AsyncIterable<T>,
  textOf: (item: T) => string,
): AsyncGenerator<T[]> {
  let read: T[] = [];
  let characters = 0;
  for await (const item of cursor) {
    read.push(item);
    characters += textOf(item).length;
    if (read.length < MOST_IN_SLICE && characters <= MOST_CHARACTERS) continue;
    yield* inSlices(read, textOf);
    read = [];
    characters = 0;
  }
  yield* inSlices(read, textOf);
}

/**
 * The server's time limit for one range (milliseconds). If processing a range takes longer, a shorter range is tried;
 * if finding it takes longer, the error is thrown.
 */
export const RANGE_MS = 10_000;

/** A contiguous range of documents, in the order of their `_id` or of the `_id` of their owner. */
export interface IdRange {
  /** The last key before the range; undefined if the range is the first. */
  behind: mongo.ObjectId | undefined;
  /** The last key in the range. */
  end: mongo.ObjectId;
}

/** A range that was found, with the number of its documents. */
export interface Found extends IdRange {
  count: number;
}

/** The query condition on a key for a range. It excludes values that are not ObjectIds. */
export function inRange({ behind, end }: IdRange): mongo.Document {
  return { ...after(behind), $lte: end };
}

/**
 * The next range along a key, of at most `most` documents; undefined at the end. Without `along` MongoDB chooses the
 * index.
 */
export async function nextRange(
  collection: mongo.Collection,
  { key, among, along }: { key: string; among: mongo.Document; along?: IndexFields },
  { behind, most, maxTimeMS }: { behind: mongo.ObjectId | undefined; most: number; maxTimeMS: number },
): Promise<Found | undefined> {
  const stages = [
    { $match: { ...among, [key]: after(behind) } },
    { $sort: { [key]: 1 } },
    { $limit: most },
    { $group: { _id: null, count: { $sum: 1 }, end: { $max: `$${key}` } } },
  ];
  const read = (options: mongo.AggregateOptions) =>
    collection.aggregate<{ count: number; end: mongo.ObjectId }>(stages, options).toArray();
  const [found] =
    along === undefined
      ? await read({ maxTimeMS })
      : await alongIndex(collection, along, (hint) => read({ maxTimeMS, hint }));
  return found && { behind, end: found.end, count: found.count };
}

function after(behind: mongo.ObjectId | undefined): mongo.Document {
  return behind === undefined ? { $gte: FIRST_ID } : { $gt: behind };
}

/** The greatest number of documents in one range. */
const MOST = 20_000;
/** If more documents than this are skipped, the problem is not with single documents. */
const MOST_LEFT = 1000;

/** The error code of MongoDB if the unique index of the ledger is missing. This is not a problem of the range. */
const NO_UNIQUE_INDEX = 51183;

/** How to process everything, range by range. */
export interface Way<S extends Found = Found> {
  /** Finds the next range of at most `most` documents; undefined at the end. */
  next: (behind: mongo.ObjectId | undefined, most: number) => Promise<S | undefined>;
  work: (range: S) => Promise<void>;
  /** Called after each range, including one whose only document was skipped. */
  advance: (range: Found) => Promise<void>;
  /** Called for a range of one document that is skipped. */
  leave: (range: Found, error: Error) => Promise<void>;
  stop: AbortSignal;
  term: TermAtWork;
}

/**
 * Processes all documents after `from`, range by range, to the end or until stopped; a range that is stopped counts as
 * not done. A range is retried with half as many documents, down to one, if it times out, if the server rejects its
 * content, or if transactions of other programs hold some of its records. A single document that is rejected or held is
 * skipped. If a single document times out, or if more than {@link MOST_LEFT} were skipped, the error is thrown. Each
 * attempt is a sign of life, since each has its own time limit.
 */
export async function walk<S extends Found>(from: mongo.ObjectId | undefined, way: Way<S>): Promise<void> {
  let behind = from;
  let most = MOST;
  let left = 0;
  while (!way.stop.aborted) {
    const range = await way.next(behind, most);
    if (range === undefined) return;
    const refused = await attempt(range, way.work);
    way.term.showLife();
    if (way.stop.aborted) return;
    if (refused !== undefined && range.count > 1) {
      most = Math.ceil(range.count / 2);
      continue;
    }
    if (refused === undefined) most = Math.min(MOST, most * 2);
    else if (isTimeout(refused) || ++left > MOST_LEFT) throw refused;
    else await way.leave(range, refused);
    behind = range.end;
    await way.advance(range);
  }
}

/**
 * Returns the error if the range times out, if the server rejects its content, or if some of its records are held;
 * undefined on success. Throws other errors.
 */
async function attempt<S extends Found>(range: S, work: Way<S>['work']): Promise<Error | undefined> {
  try {
    await work(range);
    return undefined;
  } catch (error) {
    const isOfRange =
      isTimeout(error) || isUnfit(error) || isRefusedQuery(error) || error instanceof RecordsHeldError;
    if (isOfRange && (error as mongo.MongoServerError).code !== NO_UNIQUE_INDEX) return error as Error;
    throw error;
  }
}
