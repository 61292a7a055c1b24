export { allEnded } from './all-ended.js';
export { ask, headers, type Request, type WholeAnswer } from './ask.js';
export { isExpected, persistently } from './expected.js';
export type { Journal } from './journal.js';
export { Operator } from './operator.js';
export { ReplicaSet } from './replica-set.js';
export { ServiceNode } from './service-node.js';
export { Source, type Stored } from './source.js';
export { World } from './world.js';
