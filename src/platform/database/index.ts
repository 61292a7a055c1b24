export * from './plain.js';
export { DatabaseModule } from './database.module.js';
export { IndexKeeper, Preparation } from './preparation.js';
