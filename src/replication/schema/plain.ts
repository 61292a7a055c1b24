export { type CurrentSchema, knownSchema, type ServiceSchema, serviceSchema } from './current.js';
export { examplesIn } from './json-schema.js';
export { newestDatas } from './sample.js';
export { SCHEMAS, schemaModels, type ToldChange } from './stored-schema.schema.js';
export { interfaceName, typeScriptOf } from './typescript.js';
export { forgetNames, lastChanges, removeSchemas, schemaName } from './stored-schemas.js';
