import { type mongo, Schema } from 'mongoose';
import type { Tenant } from '../../record/index.js';
import type { RestampReason } from './reason.js';

/** The service whose filter was edited. Its kind is that of the collection. */
export interface EditedService extends Tenant {
  name: string;
}

/** Records, or ledger entries, that were stamped anew within a second, all for one reason: 1,000 at most. */
export interface RestampNote {
  _id: mongo.ObjectId;
  /** By the clock of the instance. */
  at: Date;
  reason: RestampReason;
  /** In which their `_id`s stand. */
  collection: string;
  ids: mongo.ObjectId[];
  /** False where some of them may have been found right, and left alone. */
  isCertain: boolean;
  service?: EditedService;
  /** When it is removed. */
  expires: Date;
}

/** A time, an hour at most, in which there were more re-stamps of a reason than are noted one by one. */
export interface RestampGap {
  /** Its hour and its reason, such as `2026-11-20T10 late`. A text, which tells it from a note. */
  _id: string;
  reason: RestampReason;
  from: Date;
  until: Date;
  /** The number of records that were not noted. */
  count: number;
  expires: Date;
}

/** Name of the collection. */
export const RESTAMPS = 'tidemark.restamps';

/** Name of the Mongoose model of `tidemark.restamps`. */
export const RESTAMP_MODEL = 'Restamp';

/** The notes in which an `_id` stands, by time; each document goes when its `expires` has come. */
export const restampSchema = new Schema<RestampNote | RestampGap>(
  {},
  { collection: RESTAMPS, strict: false, versionKey: false },
)
  .index({ ids: 1, at: 1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** The models of the room. */
export const stampingModels = [{ name: RESTAMP_MODEL, schema: restampSchema }];
