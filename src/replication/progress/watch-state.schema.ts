import { Schema } from 'mongoose';
import type { WatchState } from './watch-state.js';

/** Name of the collection. */
export const LEASES = 'tidemark.leases';

/** Name of the Mongoose model of `tidemark.leases`. */
export const WATCH_STATE_MODEL = 'WatchState';

export const watchStateSchema = new Schema<WatchState>(
  { _id: String },
  { collection: LEASES, strict: false, versionKey: false },
);

/** The models of the room. */
export const progressModels = [{ name: WATCH_STATE_MODEL, schema: watchStateSchema }];
