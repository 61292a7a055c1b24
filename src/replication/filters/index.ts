export { EditedRecords } from './edited-records.js';
export { FilterChanges } from './filter-changes.js';
export { FilterLooks } from './filter-looks.js';
export { FilterStampings } from './filter-stampings.js';
export { FiltersInForce, type InForce, OutdatedServiceError } from './filters-in-force.js';
export { FiltersModule } from './filters.module.js';
export * from './plain.js';
