import { Schema } from 'mongoose';
import type { Service } from './service.js';

/** Name of the collection. */
export const SERVICES = 'services';

/** Name of the Mongoose model of `services`. */
export const SERVICE_MODEL = 'Service';

export const serviceSchema = new Schema<Service>(
  {},
  { collection: SERVICES, strict: false, versionKey: false, minimize: false },
).index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true });
