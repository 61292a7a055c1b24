import { Schema } from 'mongoose';
import type { Progress } from './moment.js';

/** The one document of `leases`: who watches, and how far the log is worked through (design §3, Lease). */
export interface WatchState extends Progress {
  _id: typeof WATCHER;
  /** The leading instance; empty where nobody ever led. */
  holder: string;
  /** Grows with each new leader; whoever writes names the term in which the work began. */
  term: number;
  /** Database's clock. */
  expires: Date;
  /** Where the stream goes on. */
  token?: unknown;
  pass?: PassProgress;
}

/** A pass over everything that is under way. */
export interface PassProgress {
  /** Why, as the log tells it. */
  reason: string;
  /** Whether everything has to be stamped anew, since what happened cannot be told. */
  isRepair: boolean;
  /** Database's clock. */
  started: Date;
  /** Records and ledger entries done so far, and about how many there are. */
  done: number;
  total: number;
}

export const WATCHER = 'watcher';

/** Name of the Mongoose model of `leases`. */
export const WATCH_STATE_MODEL = 'WatchState';

export const watchStateSchema = new Schema<WatchState>(
  { _id: String },
  { collection: 'leases', strict: false, versionKey: false },
);
