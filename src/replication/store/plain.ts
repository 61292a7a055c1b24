export {
  type Concern,
  type ConcernedRecord,
  type ConcernedTombstone,
  type CountsByWord,
  ENTRIES_BY_OWNER,
  FILTER_VERSIONS,
  HASH_KEYS,
  HEADS,
  HORIZONS,
  INCOMPLETE_IDENTITIES,
  type IncompleteIdentity,
  LEASES,
  LEDGER,
  LEDGER_MODEL,
  type LedgerEntry,
  MARKS,
  MARK_MODEL,
  MOMENTS,
  QUARANTINE,
  type SetAside,
  TOMBSTONES_BY_STAMP,
  WATCH_STATE_MODEL,
  WATCH_TOTALS,
  type WatchTotals,
  countSetAside,
  storeModels,
} from './collections.schema.js';
export type { ReadVersion } from './filter-versions.js';
export type { InForce } from './filters-in-force.js';
export {
  areReadable,
  removeHashKey,
  rotateHashKey,
  storedHashKey,
  type PendingCounts,
  type PendingService,
  countPending,
  fieldsAt,
  filterAt,
  firstPending,
  nameAt,
} from './stored-filters.js';
export { hasWatched, holdsWatched, noteRestore } from './history.js';
export { STORAGE_FORMATS, assertFormat, finishUpgrade, createLease, readFormat } from './storage-format.js';
export { recordsUnder } from './learning.js';
export type { StampRange } from './marks.js';
export { setAsideFromOutside } from './quarantine-additions.js';
export {
  type Job,
  LONGEST_SILENCE_MS,
  type MovesKnown,
  NO_TERM,
  type TermAtWork,
  TermLife,
  TermOverError,
  asLongAsAlive,
} from './term-life.js';
export {
  type Found,
  type IdRange,
  RANGE_MS,
  type Way,
  inRange,
  inSlices,
  nextRange,
  slicesOf,
  walk,
} from './walk.js';
export { type PassStatus, type WatcherStatus, greatestLag, readWatcherStatus } from './watcher-status.js';
