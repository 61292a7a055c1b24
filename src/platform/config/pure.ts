export { type Build, buildIn, thisBuild, versionInWords } from './build.js';
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
} from './process.js';
