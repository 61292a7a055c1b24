export { type Filter, FILTER_BYTES, filterFault } from './filter.js';
export { indexAdvice, type IndexKey } from './filter-index.js';
export { effortFault, effortInSteps, type FilterPart, partsOf, withinElements } from './filter-effort.js';
export { isHidden } from './filter-values.js';
export { concernedBy, type FieldBranch, fieldTree, hiddenFilterFault, type Treatment } from './field-tree.js';
export {
  type ShownFields,
  shownFieldsFault,
  shownFieldsOf,
  type StoredFields,
  DEFAULT_SERVICE,
  isEnabled,
  isOff,
  isNamed,
  isServiceName,
  MOST_SERVICE_BYTES,
  MOST_SERVICES,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  type StoredService,
} from './service.js';
