export { allEnded } from './all-ended.js';
export { ask, type Request, type WholeAnswer } from './ask.js';
export { isExpected, persistently } from './expected.js';
export type { Journal } from './journal.js';
export type { ServiceNode } from './service-node.js';
export type { Source, Stored } from './source.js';
export { World } from './world.js';
