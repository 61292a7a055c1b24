export { type Application, APPLICATION_MODEL } from './application.js';
export { ApplicationGuard, CurrentApplication } from './application.guard.js';
export { ApplicationModule } from './application.module.js';
export { type Filter, filterFault } from './filter.js';
export { RESERVED_SERVICE_NAMES, type Service, SERVICE_MODEL } from './service.js';
