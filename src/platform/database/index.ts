export * from './plain.js';
export { DatabaseModule, Preparation } from './preparation.js';
export { IndexKeeper } from './index-keeper.js';
export { WriteBehind } from './write-behind.js';
