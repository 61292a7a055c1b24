export * from './plain.js';
export { DatabaseModule } from './database.module.js';
export { IndexKeeper } from './index-keeper.js';
export { Preparation } from './preparation.js';
export { WriteBehind } from './write-behind.js';
