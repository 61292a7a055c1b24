export { nameAt } from './bounded.js';
export { EditedRecords } from './edited-records.js';
export { FilterChanges } from './filter-changes.js';
export { FilterStampings } from './filter-stampings.js';
export { FILTER_VERSIONS } from './filter-version.schema.js';
export {
  type FilterVersionChange,
  type KnownVersion,
  reconciled,
  type WantedFilter,
  wantedOf,
} from './filter-version.js';
export { FiltersInForce, type InForce, OutdatedServiceError } from './filters-in-force.js';
export { FiltersModule } from './filters.module.js';
