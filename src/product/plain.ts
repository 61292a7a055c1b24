export { productModels } from './product.schema.js';
