import { mongo } from 'mongoose';
import { alongIndex, type IndexFields, isRefusedQuery, isTimeout, isUnfit } from '../../database/plain.js';
import { FIRST_ID, RecordsHeldError } from '../../record/index.js';
import type { TermAtWork } from './term-life.js';

const MOST_IN_SLICE = 1000;
/** An `id` may have megabytes, and a command at most 16 MiB, in which UTF-8 takes up to three bytes for a character. */
const MOST_CHARACTERS = 1_000_000;

/** Cuts a list into slices that a single command can name, whatever other programs take for an `id`. */
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

/** The same of what a cursor finds. */
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

/** The server may work at one stretch for so long (milliseconds); what takes longer is tried with a shorter one. */
export const STRETCH_MS = 10_000;

/** Neighbours in the order of their `_id`, or of the `_id` of their owner. */
export interface Stretch {
  /** The last one before them; undefined where they are the first. */
  behind: mongo.ObjectId | undefined;
  /** The last of them. */
  end: mongo.ObjectId;
}

/** A stretch that was looked for, with how many it holds. */
export interface Found extends Stretch {
  count: number;
}

/** The condition on a key that a stretch fulfils. It leaves out what is not an ObjectId. */
export function inStretch({ behind, end }: Stretch): mongo.Document {
  return { ...after(behind), $lte: end };
}

/** The next stretch along a key, of at most `most` documents; nothing at the end. Without an index MongoDB chooses one. */
export async function nextStretch(
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

/** How many documents the server works at in one go. */
const MOST = 20_000;
/** More than these are no single odd ones: something is wrong with all of them. */
const MOST_LEFT = 1000;

/** The index under which the ledger knows its entries is gone: that is no matter of a stretch. */
const NO_UNIQUE_INDEX = 51183;

/** A way over everything, stretch by stretch. */
export interface Way<S extends Found = Found> {
  /** Finds the next stretch of at most `most` documents; nothing at the end. */
  next: (behind: mongo.ObjectId | undefined, most: number) => Promise<S | undefined>;
  work: (stretch: S) => Promise<void>;
  /** Told after each stretch, and where a document was left. */
  advance: (stretch: Found) => Promise<void>;
  /** Told of a document at which the server cannot work. */
  leave: (stretch: Found, error: Error) => Promise<void>;
  stop: AbortSignal;
  term: TermAtWork;
}

/**
 * Goes from behind a document to the end, or until stopped: the stretch that was under way then counts as not done. One
 * that takes too long, or that the server refuses for what is in it, is tried with half of it, down to one document: one
 * that is refused by itself is left. Each try is a sign of life, since each has an end of its own.
 */
export async function walk<S extends Found>(from: mongo.ObjectId | undefined, way: Way<S>): Promise<void> {
  let behind = from;
  let most = MOST;
  let left = 0;
  while (!way.stop.aborted) {
    const stretch = await way.next(behind, most);
    if (stretch === undefined) return;
    const refused = await attempt(stretch, way.work);
    way.term.showLife();
    if (way.stop.aborted) return;
    if (refused !== undefined && stretch.count > 1) {
      most = Math.ceil(stretch.count / 2);
      continue;
    }
    if (refused === undefined) most = Math.min(MOST, most * 2);
    else if (isTimeout(refused) || ++left > MOST_LEFT) throw refused;
    else await way.leave(stretch, refused);
    behind = stretch.end;
    await way.advance(stretch);
  }
}

/** What the server has against a stretch; nothing where it did its work. */
async function attempt<S extends Found>(stretch: S, work: Way<S>['work']): Promise<Error | undefined> {
  try {
    await work(stretch);
    return undefined;
  } catch (error) {
    const isOfStretch =
      isTimeout(error) || isUnfit(error) || isRefusedQuery(error) || error instanceof RecordsHeldError;
    if (isOfStretch && (error as mongo.MongoServerError).code !== NO_UNIQUE_INDEX) return error as Error;
    throw error;
  }
}
