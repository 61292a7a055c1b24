export { ConfigError } from './config-error.js';
export { databaseIn } from './connection-string.js';
export { hasColours, settingsOfProcess } from './environment.js';
export { behindProxy, cacheDir, environmentWithLibraries, searchPath } from './paths.js';
export { descriptorLimit, isAlive, ownPid, parentPid, startedByNpm } from './processes.js';
export { readSettings, type Settings, settingTable } from './settings.js';
