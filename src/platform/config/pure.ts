export {
  contentOf,
  fileTrouble,
  type SettingFile,
  shownFile,
  wrongFile,
  assertAuthorities,
  certificateIn,
  openSslReason,
} from './files.js';
export { endedSupport, type Build, buildIn, thisBuild, versionInWords } from './build.js';
export {
  type Invocation,
  invocationOf,
  invocationOfProcess,
  IN_CLONE,
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
