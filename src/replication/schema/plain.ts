export { type CurrentSchema, knownSchema, type ServiceSchema, serviceSchema } from './served.js';
export { examplesIn, interfaceName, typeScriptOf } from './json-schema.js';
export { newestDatas } from './sample.js';
export {
  schemaModels,
  type ToldChange,
  forgetNames,
  lastChanges,
  removeSchemas,
  schemaName,
} from './stored-schemas.js';
