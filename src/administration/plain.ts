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
  randomPassword,
  revokeCredential,
} from './credentials.js';
export { type LastUse, lastUses, type Unused, unusedCredentials } from './credential-uses.js';
export {
  type Applied,
  applyConfiguration,
  assertPossible,
  type PlannedChange,
  compare,
  type Comparison,
  type Configuration,
  configurationFile,
  configurationJson,
  EVERYTHING,
  onLine,
  type Previews,
  previewsOf,
  type Reach,
  readConfigurationFile,
  storedConfiguration,
  withinApplication,
} from './configuration/index.js';
export { type Desk, noteDeed } from './desk.js';
export { required, type Shaped, text } from './fields.js';
export { coversAll, coversCredential } from './reach.js';
export { filterPlan, type IndexWish, indexWish, makeFilterIndex } from './filter-indexes.js';
export { filterJson, filterOf } from './filter-text.js';
export { type Group, type FilterPlan, type Preview, previewFilter, type Warning } from './preview.js';
export { leftOutText, listServices } from './listed-services.js';
export { recordHistory, type RecordHistory, type Restamp } from './record-history.js';
export { recordStory, type RecordStory, type Standing } from './record-story.js';
export { administrationProblem } from './refused.js';
export { retireOldPassword, rotateCredential } from './secrets.js';
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
export { newUsernameFault } from './usernames.js';
