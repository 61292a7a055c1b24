export { type Applied, applyConfiguration } from './apply.js';
export { type Configuration, CONFIGURATION } from './configuration.js';
export { type PlannedChange } from './difference.js';
export { configurationFile, onLine, readConfigurationFile } from './file.js';
export { assertPossible, compare, type Comparison, type Previews, previewsOf } from './plan.js';
export {
  configurationJson,
  EVERYTHING,
  type Reach,
  storedConfiguration,
  withinApplication,
} from './stored-configuration.js';
