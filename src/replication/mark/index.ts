export { FirstPassGuard } from './first-pass.guard.js';
export { fenceIn, type Mark, MARK_MODEL, type MarkKey, markKey, markName, RAISE } from './mark.js';
export { MarkModule } from './mark.module.js';
export { MaxService } from './max.service.js';
export {
  isPreparing,
  isShown,
  type Moment,
  MOMENT_MODEL,
  newestMoment,
  type Progress,
  servingMoment,
  type StoredMoment,
} from './moment.js';
export { type Look, Moments } from './moments.js';
export { Raises } from './raises.js';
export { readStanding, shareDone, type Standing } from './standing.js';
export { type Tally, WATCH_TOTALS, type WatchTotals } from './watch-totals.js';
export {
  type PassPlace,
  type PassProgress,
  WATCH_STATE_MODEL,
  WATCHER,
  type WatchState,
} from './watch-state.js';
