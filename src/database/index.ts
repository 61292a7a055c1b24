export { DatabaseModule } from './database.module.js';
export { IndexKeeper } from './index-keeper.js';
export * from './plain.js';
export { Preparation } from './preparation.js';
