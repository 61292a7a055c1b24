export { APPLICATIONS } from './application.schema.js';
export type { Application } from './application.js';
export * from './pure.js';
export { SERVICE_MODEL, SERVICES } from './service.schema.js';
export { applicationModels } from './models.js';
