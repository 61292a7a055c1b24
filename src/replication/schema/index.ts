export * from './plain.js';
export { SchemaModule } from './schema.module.js';
export { SchemaSampling } from './schema-sampling.js';
export { Schemas } from './schemas.js';
