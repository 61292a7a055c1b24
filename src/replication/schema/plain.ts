export { type CurrentSchema, knownSchema, type ServiceSchema, serviceSchema } from './current.js';
export { examplesIn } from './json-schema.js';
export { newestDatas } from './sample.js';
export { SCHEMAS, schemaModels } from './stored-schema.schema.js';
export { interfaceName, typeScriptOf } from './typescript.js';
export { forgetNames, removeSchemas } from './stored-schemas.js';
