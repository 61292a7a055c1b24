import { Schema } from 'mongoose';
import type { Application } from './application.js';

/** Name of the collection. */
export const APPLICATIONS = 'applications';

/** Name of the Mongoose model of `applications`. */
export const APPLICATION_MODEL = 'Application';

export const applicationSchema = new Schema<Application>(
  {},
  { collection: APPLICATIONS, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1 }, { unique: true });
