import { Schema } from 'mongoose';
import type { StoredMoment } from './moment.js';

/** Twice as long as a server keeps snapshots unless told otherwise (seconds). */
const KEPT_SECONDS = 600;

/** Name of the collection. */
export const MOMENTS = 'tidemark.moments';

/** Name of the Mongoose model of `tidemark.moments`. */
export const MOMENT_MODEL = 'Moment';

export const momentSchema = new Schema<StoredMoment>(
  {},
  { collection: MOMENTS, strict: false, versionKey: false },
)
  .index({ organizationid: 1, appid: 1, kind: 1, fence: 1, at: 1 }, { unique: true })
  .index({ passed: 1 }, { expireAfterSeconds: KEPT_SECONDS });
