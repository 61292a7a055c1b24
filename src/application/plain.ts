import { Schema } from 'mongoose';
import type { Tenant } from '../record/index.js';
import type { Service } from './service.js';

export * from './pure.js';

/** A document of `applications` (contract §4). */
export interface Application extends Tenant {
  title?: string;
  settings?: { replicatepasswordhash?: boolean };
}

/** Name of the collection. */
export const APPLICATIONS = 'applications';

/** Name of the Mongoose model of `applications`. */
export const APPLICATION_MODEL = 'Application';

const applicationSchema = new Schema<Application>(
  {},
  { collection: APPLICATIONS, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1 }, { unique: true });

/** Name of the collection. */
export const SERVICES = 'services';

/** Name of the Mongoose model of `services`. */
export const SERVICE_MODEL = 'Service';

const serviceSchema = new Schema<Service>(
  {},
  { collection: SERVICES, strict: false, versionKey: false, minimize: false },
).index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true });

/** The models of this module. */
export const applicationModels = [
  { name: APPLICATION_MODEL, schema: applicationSchema },
  { name: SERVICE_MODEL, schema: serviceSchema },
];
