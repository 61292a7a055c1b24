import { APPLICATION_MODEL, applicationSchema } from './application.schema.js';
import { SERVICE_MODEL, serviceSchema } from './service.schema.js';

/** The models of the room. */
export const applicationModels = [
  { name: APPLICATION_MODEL, schema: applicationSchema },
  { name: SERVICE_MODEL, schema: serviceSchema },
];
