export { EditedRecords } from './edited-records.js';
export { FilterChanges } from './filter-changes.js';
export { FilterLooks, FilterStampings } from './filter-jobs.js';
export { FiltersInForce, type InForce, OutdatedServiceError } from './filters-in-force.js';
export { FiltersModule } from './filters.module.js';
export * from './plain.js';
