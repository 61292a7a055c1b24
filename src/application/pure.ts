export { type Filter, FILTER_BYTES, filterFault } from './filter.js';
export { indexAdvice, type IndexKey } from './filter-index.js';
export { effortFault, effortInSteps, type FilterPart, partsOf, withinElements } from './filter-effort.js';
export { isHidden } from './filter-values.js';
export {
  isEnabled,
  isNamed,
  isServiceName,
  MOST_SERVICE_BYTES,
  MOST_SERVICES,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  type StoredService,
} from './service.js';
