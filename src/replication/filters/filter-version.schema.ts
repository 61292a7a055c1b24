import { Schema } from 'mongoose';
import type { FilterVersion } from './filter-version.js';

/** Name of the collection. */
export const FILTER_VERSIONS = 'tidemark.filterversions';

/** Name of the Mongoose model of `tidemark.filterversions`. */
export const FILTER_VERSION_MODEL = 'FilterVersion';

export const filterVersionSchema = new Schema<FilterVersion>(
  {},
  { collection: FILTER_VERSIONS, strict: false, versionKey: false, minimize: false },
)
  .index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true })
  // Every scrape counts these entries, and the index alone answers it: an entry may hold two filters of 64 KB.
  .index(
    { pending: 1, pendingSince: 1, 'stamping.failures': 1 },
    { partialFilterExpression: { pending: true } },
  );

/** The models of the room. */
export const filterModels = [{ name: FILTER_VERSION_MODEL, schema: filterVersionSchema }];
