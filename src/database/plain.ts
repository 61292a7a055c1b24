export { bareCommand, placedReply } from './bare-command.js';
export { cursorId } from './cursor-id.js';
export {
  databaseProblem,
  isDatabaseAway,
  isDuplicateKey,
  isRefusedByValidator,
  isRefusedQuery,
  isRetryable,
  isTimeout,
  isUnfit,
  type Refusal,
  refusalsIn,
  refusedAsDuplicate,
} from './errors.js';
export { ASKED_FOR, buildIndex, type Watching } from './index-build.js';
export { NO_HISTORY, unfitness } from './fitness.js';
export { makeIndexes } from './indexes.js';
export { indexName, listedIndexes } from './missing-indexes.js';
export { modelsOf } from './models.js';
export { APP_NAME, COMMAND_MS, DATABASE_URI, driverOptions, SAFE_BSON } from './options.js';
export * from './pure.js';
export { type PastValidator, pastValidator, type SingleWrite, writeEach } from './refused-writes.js';
export { checkServer } from './server-check.js';
export { wrongSetAtStart } from './replica-set-fault.js';
export { refusalAtStart } from './trouble.js';
export { isMomentGone, readAsOf, type SnapshotOptions } from './snapshot.js';
export {
  alongIndex,
  alongIndexIfAny,
  type IndexFields,
  statedIndex,
  stateIndexesOf,
} from './stated-index.js';
