export { contentOf, fileTrouble, type SettingFile, shownFile, wrongFile } from './files.js';
export { assertAuthorities, certificateIn, openSslReason } from './pem.js';
export { endedSupport } from './node-support.js';
export { type Build, buildIn, thisBuild, versionInWords } from './build.js';
export { type Calling, callingOf, callingOfProcess, IN_CLONE } from './calling.js';
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
