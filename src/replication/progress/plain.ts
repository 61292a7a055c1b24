export { holdsWatched } from './history.js';
export type { Job } from './job.js';
export * from './pure.js';
export {
  type AsideProgress,
  isPreparing,
  knownAside,
  type ProgressLook,
  progressOf,
  progressOfAll,
  type TotalProgress,
  type WatchProgress,
} from './progress.js';
export {
  LONGEST_SILENCE_MS,
  type MovesKnown,
  NO_TERM,
  type TermAtWork,
  TermLife,
  TermOverError,
} from './term-life.js';
export { LEASES, WATCH_STATE_MODEL, progressModels } from './watch-state.schema.js';
export {
  type AsideApplication,
  type LaneCounts,
  type PassPlace,
  type PassProgress,
  WATCHER,
  type WatchState,
} from './watch-state.js';
export { type CountsByWord, WATCH_TOTALS, type WatchTotals } from './watch-totals.schema.js';
export {
  type AsideStatus,
  type Estimated,
  greatestLag,
  type PassStatus,
  readWatcherStatus,
  type WatcherStatus,
} from './watcher-status.js';
