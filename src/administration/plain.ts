export {
  applicationExists,
  assertApplication,
  createApplication,
  listApplications,
  nameOfTenant,
  removeApplication,
  type StoredApplication,
} from './applications.js';
export {
  changeCredential,
  credentialExists,
  issueCredential,
  listCredentials,
  type ListedCredential,
  newUsernameFault,
  randomPassword,
  retireOldPassword,
  revokeCredential,
  rotateCredential,
} from './credentials.js';
export { type LastUse, lastUses, type Unused, unusedCredentials } from './credential-uses.js';
export { type Applied, applyConfiguration } from './configuration/apply.js';
export { type PlannedChange } from './configuration/difference.js';
export { configurationFile, onLine, readConfigurationFile } from './configuration/file.js';
export { assertPossible, compare, type Comparison, type Previews, previewsOf } from './configuration/plan.js';
export {
  configurationJson,
  EVERYTHING,
  type Reach,
  storedConfiguration,
  withinApplication,
} from './configuration/stored-configuration.js';
export { administrationProblem, type Desk, noteDeed } from './changes.js';
export { required, type Shaped, text } from './fields.js';
export { coversAll, coversCredential } from './reach.js';
export { filterPlan, type FilterPlan, type IndexWish, indexWish, makeFilterIndex } from './filter-indexes.js';
export { filterJson, filterOf } from './filter-text.js';
export { type Preview, previewFilter } from './preview.js';
export type { Group } from './preview/sample.js';
export { leftOutText, listServices } from './listed-services.js';
export {
  recordHistory,
  type RecordHistory,
  recordStory,
  type RecordStory,
  type Standing,
} from './records.js';
export {
  filterInForce,
  nameOfService,
  readService,
  removeService,
  serviceNameFault,
  setService,
  storedFilter,
} from './services.js';
export { type AuditStatus, type Status, statusOf } from './status.js';
export type { Configuration } from './shapes.js';
