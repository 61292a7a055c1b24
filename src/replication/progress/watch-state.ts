import type { mongo } from 'mongoose';
import type { Tenant } from '../../record/pure.js';
import type { AsideProgress, WatchProgress } from './progress.js';
import type { Pace, Work } from './rest.js';

/** The one document of `tidemark.leases`: who watches, and how far the log is worked through (design §3, Lease). */
export interface WatchState extends WatchProgress {
  _id: typeof WATCHER;
  /** The leading instance; empty if none has led yet. */
  holder: string;
  /** Grows with each new leader; every write names the term in which its work began. */
  term: number;
  /** Database's clock. */
  expires: Date;
  /** Where the stream goes on. */
  token?: unknown;
  pass?: PassProgress;
  /** Of the main loop, in seconds of the log. */
  pace?: Pace;
  /**
   * Applications that are worked through beside all others. To be written as a whole, by `$set` of the field or `$unset`: the
   * control stream tells fields, and no parts of them.
   */
  aside?: AsideApplication[];
}

/**
 * An application that is worked through beside all others, and where its own stream goes on. While a pass of its own is under way, or still
 * to come, it has no place and no `watched`.
 */
export interface AsideApplication extends AsideProgress {
  token?: unknown;
  pass?: PassProgress;
  /** Absent where an earlier version has put it aside. */
  counts?: LaneCounts;
}

/** Events of the log since the application was put aside: those that the main loop has read, and those that its own loop is done with. */
export interface LaneCounts {
  read: EventCounts;
  done: EventCounts;
}

interface EventCounts {
  changes: number;
  /** Events of what the watcher itself writes: tombstones, stamps, `emailkey`s. */
  echoes: number;
}

/** A pass that is under way, over everything or over one application. It counts the records and ledger entries done so far, and about how many there are. */
export interface PassProgress extends Work {
  /** Why, as the log tells it. */
  reason: string;
  /** Whether everything has to be stamped anew, since what happened cannot be told. */
  isRepair: boolean;
  /** Database's clock. */
  started: Date;
  /** Whether the ledger was empty when it began. */
  isBare?: boolean;
  /** Of a pass over one application: present if no pass over it has ended yet. */
  isFirst?: boolean;
  /** Of a pass over everything that is not the first one: the applications over which no pass has ended yet. */
  first?: Tenant[];
  /** Applications that a pass over everything leaves to a pass of their own behind it, the smallest first. */
  later?: Tenant[];
  /** How far it has come; absent at its very beginning. */
  reached?: PassPlace;
}

/** Where a pass goes on that was cut off, by a restart or a fail-over. */
export interface PassPlace {
  /** The place in the log where the stream of the pass was opened: what it learns is knowledge of that place. */
  at: string;
  /** Up to here that stream is worked through. */
  token: unknown;
  /** The step of the pass that is under way, empty before the first one, and the `_id` up to which it is done; absent at its beginning. */
  step: string;
  behind?: mongo.ObjectId;
}

export const WATCHER = 'watcher';
