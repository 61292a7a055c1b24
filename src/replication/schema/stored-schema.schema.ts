import { Schema } from 'mongoose';
import type { mongo } from 'mongoose';
import type { ServiceKey } from '../../application/index.js';
import type { FieldChange } from './changes.js';

/** A change of a schema, with the version that it made. */
export interface ToldChange extends FieldChange {
  version: number;
  at: Date;
}

/** The version of a service that a schema is of: it shows no other fields, and no other records. */
export interface OfVersion {
  /** The document of its kind, as the description of the kind has it; null for a built-in kind. */
  kind: string | null;
  /** The document of `tidemark.filterversions`; null for `default` without one. */
  entry: mongo.ObjectId | null;
  version: number;
}

/** The place of the walk through the records of a service that are too many to be read together. */
export interface Walk {
  /** The last `_id`; null at the beginning of a round. */
  behind: mongo.ObjectId | null;
  round: number;
  /** Records of the application from one place of the walk to the next, on average. */
  stride: number;
  /** Places of this round so far. */
  places: number;
}

/**
 * A document of `tidemark.schemas`: what samples of the items of a service have shown. Everything but the version is removed when
 * the service is edited, because it could name a field that is hidden now, and when a record is erased.
 */
export interface StoredSchema extends ServiceKey {
  /** Grows by one with every change of the schema; 0 before the first sample. */
  version: number;
  /** Another one after each write. A sample is stored only if nothing was written since it began. */
  token: mongo.ObjectId;
  of?: OfVersion;
  /** When the last sample was taken, by the clock of the instance. */
  at?: Date;
  /** The head of the application and kind before that; absent if there was none. */
  head?: Date | null;
  /** Whether all records of the service were read. */
  isWhole?: boolean;
  /** What was seen, as text. */
  seen?: string;
  walk?: Walk;
  changes?: ToldChange[];
}

export const SCHEMAS = 'tidemark.schemas';

const storedSchema = new Schema<StoredSchema>(
  {},
  { collection: SCHEMAS, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true });

export const schemaModels = [{ name: 'StoredSchema', schema: storedSchema }];
