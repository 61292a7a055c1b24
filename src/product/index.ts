export * from './plain.js';
export { ProductModule } from './product.module.js';
