import type { WATCHER } from './watch-state.js';

/** Numbers by the word that tells them apart; a word without a number is none. */
export type Tally = Partial<Record<string, number>>;

/**
 * The one document of `watchtotals`: what all leaders did since the beginning, whichever instance it was. A leader that
 * is killed takes with it what it did since its last renewal.
 */
export interface WatchTotals {
  _id: typeof WATCHER;
  /** Records and tombstones stamped anew, by reason. */
  restamps?: Tally;
  /** Hard deletes written into the ledger. */
  tombstones?: number;
  /** Passes begun, by reason. */
  passes?: Tally;
  /** What was mended in records of other programs, by what. */
  mended?: Tally;
  /** Records that can never be delivered, by kind, as the last leader knew them. */
  ignored?: Tally;
}

export const WATCH_TOTALS = 'watchtotals';
