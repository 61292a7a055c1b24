export { contentOf, fileTrouble, type SettingFile, shownFile, wrongFile } from './files.js';
export { endedSupport } from './node-support.js';
export {
  behindProxy,
  cacheDir,
  ConfigError,
  descriptorLimit,
  environmentWithLibraries,
  hasColours,
  isAlive,
  ownPid,
  parentPid,
  searchPath,
  startedByNpm,
  WRONG_SETTINGS,
} from './process.js';
