export { findMongod } from './find-mongod.js';
export { type EmbeddedDatabase, freePort, startEmbedded } from './start-embedded.js';
export { mongodEnvironment, QUIET_OPTIONS } from './mongod.js';
export { onOrphaned } from './run-program.js';
export { findEmbedded } from './data-directory.js';
export { bundledMongod } from './mongod-cache.js';
