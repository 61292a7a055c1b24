export {
  bareCommand,
  cursorId,
  isMomentGone,
  placedReply,
  readAsOf,
  type SnapshotOptions,
} from './commands.js';
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
export { ASKED_FOR, buildIndex, makeIndexes, type Watching } from './indexes.js';
export { checkServer, NO_HISTORY, refusalAtStart, unfitness, wrongSetAtStart } from './server-check.js';
export {
  alongIndex,
  alongIndexIfAny,
  type IndexFields,
  indexName,
  listedIndexes,
  modelsOf,
  statedIndex,
  stateIndexesOf,
} from './listed-indexes.js';
export { APP_NAME, COMMAND_MS, DATABASE_URI, driverOptions, SAFE_BSON } from './options.js';
export * from './pure.js';
export { type PastValidator, pastValidator, type SingleWrite, writeEach } from './refused-writes.js';
