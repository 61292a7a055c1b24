export { ApplicationGuard, CurrentApplication } from './application.guard.js';
export { ApplicationLookup } from './application-lookup.js';
export { ApplicationModule } from './application.module.js';
export { APPLICATIONS } from './application.schema.js';
export type { Application } from './application.js';
export { InApplication, NamesApplication } from './openapi.js';
export * from './pure.js';
export { SERVICE_MODEL, SERVICES } from './service.schema.js';
