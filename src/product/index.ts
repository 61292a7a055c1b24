export { PRODUCT_MODEL } from './product.schema.js';
export { ProductModule } from './product.module.js';
