export { nameAt } from './bounded.js';
export { FILTER_VERSIONS, filterModels } from './filter-version.schema.js';
export { countPending, firstPending, type PendingCounts, type PendingService } from './pending-services.js';
export {
  type FilterVersionChange,
  type KnownVersion,
  reconciled,
  type WantedFilter,
  wantedOf,
} from './filter-version.js';
