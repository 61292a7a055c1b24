export {
  type StoredApplication,
  applicationExists,
  assertApplication,
  rekeyApplication,
  createApplication,
  isName,
  listApplications,
  nameOfTenant,
  removeApplication,
} from './applications.js';
export {
  type ChangeContext,
  Refused,
  administrationProblem,
  coversAll,
  coversCredential,
  recordAction,
} from './changes.js';
export { type Applied, applyConfiguration } from './configuration/apply.js';
export { type CheckState, type CheckedPart, checkAll, clockBehindText } from './check.js';
export type { PlannedChange } from './configuration/difference.js';
export { configurationFile, onLine, readConfigurationFile } from './configuration/file.js';
export {
  type Comparison,
  type Previews,
  assertPossible,
  compare,
  previewed,
  previewsOf,
} from './configuration/plan.js';
export { issueCredential, randomPassword, rotateCredential } from './passwords.js';
export {
  EVERYTHING,
  type Reach,
  configurationJson,
  storedConfiguration,
  withinApplication,
} from './configuration/stored-configuration.js';
export { type LastUse, type Unused, lastUses, unusedCredentials } from './credential-uses.js';
export {
  type ListedCredential,
  changeCredential,
  credentialExists,
  listCredentials,
  newUsernameFault,
  retireOldPassword,
  revokeCredential,
} from './credentials.js';
export { erase } from './erasure/erase.js';
export {
  erasureModels,
  type ErasureReceipt,
  type WholeReceipt,
  listReceipts,
  readReceipt,
} from './erasure/receipts.js';
export {
  type FilterPlan,
  type IndexProposal,
  filterPlan,
  proposedIndex,
  makeFilterIndex,
} from './filter-indexes.js';
export { filterJson, filterOf, optionText } from './filter-text.js';
export { type RemovedWithKind, createKind, removeKind } from './kinds.js';
export { type ListedKind, listKinds } from './listed-kinds.js';
export { leftOutText, listServices } from './listed-services.js';
export { type Preview, previewFilter } from './preview.js';
export type { Group } from './preview/sample.js';
export { type RecordScope, deleteRecords } from './record-deletion.js';
export {
  type RecordHistory,
  type RecordStory,
  type Standing,
  recordHistory,
  recordStory,
} from './records.js';
export { serviceFault, serviceNameFault, setNameFault } from './service-rules.js';
export { editedVersion, type ServiceVersion, storedFilter, versionInForce } from './service-versions.js';
export { nameOfService, readService, removeService, setService } from './services.js';
export type { Configuration } from './shapes.js';
export { type AuditStatus, type Status, statusOf } from './status.js';
