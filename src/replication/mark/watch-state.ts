import { Schema, type mongo } from 'mongoose';

/** The one document of `leases`: who watches, and how far the log is worked through (design §3, Lease). */
export interface WatchState {
  _id: typeof WATCHER;
  /** The leading instance; empty where nobody ever led. */
  holder: string;
  /** Grows with each new leader; whoever writes names the term in which the work began. */
  term: number;
  /** Database's clock. */
  expires: Date;
  /** Where the stream goes on. */
  token?: unknown;
  /** The cluster time that is worked through. */
  watched?: mongo.Timestamp;
  /** End of the last pass over the collections. */
  since?: mongo.Timestamp;
}

export const WATCHER = 'watcher';

/** Name of the Mongoose model of `leases`. */
export const WATCH_STATE_MODEL = 'WatchState';

export const watchStateSchema = new Schema<WatchState>(
  { _id: String },
  { collection: 'leases', strict: false, versionKey: false },
);
