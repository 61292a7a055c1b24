export { findMongod } from './find-mongod.js';
export { freePort } from './free-port.js';
export { mongodEnvironment } from './libraries.js';
export { reticent } from './mongod-arguments.js';
export { onOrphaned } from './orphan.js';
export { findEmbedded } from './running.js';
export { type EmbeddedDatabase, startEmbedded } from './start-embedded.js';
export { wheelMongod } from './wheel-mongod.js';
