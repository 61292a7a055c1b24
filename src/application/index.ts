export { ApplicationGuard, CurrentApplication } from './application.guard.js';
export { ApplicationLookup } from './application-lookup.js';
export { ApplicationModule } from './application.module.js';
export { InApplication, NamesApplication } from './openapi.js';
export * from './plain.js';
