export { sessionModels } from './session.schema.js';
