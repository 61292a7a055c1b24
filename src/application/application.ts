import { Schema } from 'mongoose';
import type { Tenant } from '../record/index.js';

/** A document of `applications` (contract §4). */
export interface Application extends Tenant {
  title?: string;
  settings?: { replicatepasswordhash?: boolean };
}

/** Name of the Mongoose model of `applications`. */
export const APPLICATION_MODEL = 'Application';

export const applicationSchema = new Schema<Application>(
  {},
  { collection: 'applications', strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1 }, { unique: true });
