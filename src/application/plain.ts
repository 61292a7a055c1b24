export {
  type Application,
  applicationModels,
  APPLICATIONS,
  SERVICE_MODEL,
  SERVICES,
} from './application.schema.js';
export * from './pure.js';
