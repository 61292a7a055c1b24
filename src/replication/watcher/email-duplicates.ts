import { Schema, type mongo } from 'mongoose';
import type { Tenant } from '../../record/index.js';

/** A member whose e-mail another member of the application has already; its `_id` is the member's. */
export interface EmailDuplicate extends Tenant {
  _id: mongo.ObjectId;
  emailkey: string;
}

/** Name of the Mongoose model of `emailduplicates`. */
export const EMAIL_DUPLICATE_MODEL = 'EmailDuplicate';

export const emailDuplicateSchema = new Schema<EmailDuplicate>(
  {},
  { collection: 'emailduplicates', strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1, emailkey: 1 });
