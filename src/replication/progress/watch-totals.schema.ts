import type { WATCHER } from './watch-state.js';

/** Numbers by the word that tells them apart; a word without a number is none. */
export type CountsByWord = Partial<Record<string, number>>;

/**
 * The one document of `tidemark.watchtotals`: what all leaders did since the beginning, whichever instance it was. A leader that
 * is killed takes with it what it did since its last renewal.
 */
export interface WatchTotals {
  _id: typeof WATCHER;
  /** Records and tombstones stamped anew, by reason. */
  restamps?: CountsByWord;
  /** Hard deletes written into the ledger. */
  tombstones?: number;
  /** Passes begun, by reason. */
  passes?: CountsByWord;
  /** What was repaired in records of other programs, by what. */
  repaired?: CountsByWord;
  /** Records that can never be delivered, by kind, as the last leader knew them. */
  ignored?: CountsByWord;
}

/** Name of the collection. */
export const WATCH_TOTALS = 'tidemark.watchtotals';
