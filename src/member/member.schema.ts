import { Schema } from 'mongoose';
import type { RecordDocument } from '../record/index.js';

/** Name of the Mongoose model of `members`. */
export const MEMBER_MODEL = 'Member';

/**
 * Other programs write this collection too, so documents are taken as they come. The first two indexes carry the
 * feeds (design §4); the unique ones keep `id` and e-mail unique where they are texts.
 */
export const memberSchema = new Schema<RecordDocument>(
  {},
  { collection: 'members', strict: false, versionKey: false },
)
  .index({ organizationid: 1, appid: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 })
  .index(
    { organizationid: 1, appid: 1, id: 1 },
    { unique: true, partialFilterExpression: { id: { $type: 'string' } } },
  )
  .index(
    { organizationid: 1, appid: 1, emailkey: 1 },
    { unique: true, partialFilterExpression: { emailkey: { $type: 'string' } } },
  );
