export { findMongod } from './find-mongod.js';
export { type EmbeddedDatabase, freePort, startEmbedded } from './start-embedded.js';
export { mongodEnvironment, reticent } from './mongod.js';
export { onOrphaned } from './run-program.js';
export { findEmbedded } from './data-directory.js';
export { wheelMongod } from './mongod-cache.js';
