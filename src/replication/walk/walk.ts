import type { mongo } from 'mongoose';
import { isRefusedQuery, isTimeout, isUnfit } from '../../database/plain.js';
import { RecordsHeldError } from '../../record/index.js';
import type { TermAtWork } from '../progress/index.js';
import type { Found } from './stretch.js';

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
