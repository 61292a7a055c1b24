export { nameAt } from './bounded.js';
export { FILTER_VERSIONS, filterModels } from './filter-version.schema.js';
export {
  type FilterVersionChange,
  type KnownVersion,
  reconciled,
  type WantedFilter,
  wantedOf,
} from './filter-version.js';
