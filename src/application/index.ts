export { ApplicationGuard, CurrentApplication } from './application.guard.js';
export { ApplicationModule } from './application.module.js';
export { APPLICATIONS } from './application.schema.js';
export type { Application } from './application.js';
export { type Filter, FILTER_BYTES, filterFault } from './filter.js';
export { SERVICE_MODEL, SERVICES } from './service.schema.js';
export {
  isEnabled,
  isNamed,
  isServiceName,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  type StoredService,
} from './service.js';
