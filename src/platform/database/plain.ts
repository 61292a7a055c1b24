export * from './pure.js';
export {
  type SnapshotOptions,
  bareCommand,
  cursorId,
  findAll,
  placedReply,
  readAsOf,
  transactionWithin,
} from './commands.js';
export {
  type Refusal,
  databaseProblem,
  isDatabaseAway,
  isDuplicateKey,
  isMomentGone,
  isRefusedByValidator,
  isRefusedQuery,
  isRetryable,
  isTimeout,
  isUnauthorized,
  isUnconfirmed,
  isUnfit,
  modifiedBefore,
  refusalsIn,
  refusedAsDuplicate,
  type PastValidator,
  type SingleWrite,
  pastValidator,
  writeEach,
} from './errors.js';
export { ASKED_FOR, type Watching, buildIndex, buildsIn, makeIndexes } from './indexes.js';
export {
  type IndexFields,
  type MissingIndex,
  alongIndex,
  alongIndexIfAny,
  inTheWaySentence,
  indexName,
  isIndexMissing,
  isSameIndex,
  listedIndexes,
  modelsOf,
  stateIndexesOf,
  statedIndex,
} from './listed-indexes.js';
export {
  APP_NAME,
  COMMAND_MS,
  DATABASE_URI,
  SAFE_BSON,
  driverOptions,
  withAnyCollection,
} from './options.js';
export { CLOCK, FUTURE_TOLERANCE_MS } from './pure.js';
export { type MissingRight, missingRights, rightSentence } from './rights.js';
export {
  NO_HISTORY,
  checkServer,
  hostsIn,
  refusalAtStart,
  troubleOfCommand,
  unfitCollection,
  unfitness,
  wrongSetAtStart,
} from './server-check.js';
