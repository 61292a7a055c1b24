export { type Application, APPLICATION_MODEL } from './application.js';
export { ApplicationGuard, CurrentApplication } from './application.guard.js';
export { ApplicationModule } from './application.module.js';
export { type Filter, FILTER_BYTES, filterFault } from './filter.js';
export {
  isEnabled,
  isNamed,
  isServiceName,
  RESERVED_SERVICE_NAMES,
  type Service,
  type ServiceKey,
  SERVICE_MODEL,
  type StoredService,
} from './service.js';
