export { hasColours } from './colours.js';
export { ConfigError } from './config-error.js';
export { behindProxy, cacheDir, environmentWithLibraries, searchPath } from './paths.js';
export { descriptorLimit, isAlive, ownPid, parentPid, startedByNpm } from './processes.js';
