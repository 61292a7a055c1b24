export { findMongod, type FoundMongod } from './find-mongod.js';
export { freePort } from './free-port.js';
export { onOrphaned } from './orphan.js';
export { findEmbedded } from './running.js';
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './start-embedded.js';
