export { type Filter, FILTER_BYTES, filterFault } from './filter.js';
export {
  isEnabled,
  isNamed,
  isServiceName,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  type StoredService,
} from './service.js';
