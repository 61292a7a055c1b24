import { Schema, type mongo } from 'mongoose';
import type { Kind, Tenant } from '../record/index.js';

/** A document of `services`: a named filter of one application and kind (contract §4). */
export interface Service extends Tenant {
  kind: Kind;
  name: string;
  /** A MongoDB query document, matched against the record document. */
  filter: mongo.Document;
  description?: string;
  enabled?: boolean;
}

/** Names that a service cannot have: they mean something in the paths already. */
export const RESERVED_SERVICE_NAMES = ['default', 'max', 'harddeletes'];

/** Name of the Mongoose model of `services`. */
export const SERVICE_MODEL = 'Service';

export const serviceSchema = new Schema<Service>(
  {},
  { collection: 'services', strict: false, versionKey: false, minimize: false },
).index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true });
