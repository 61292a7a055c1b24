export { FirstPassGuard } from './first-pass.guard.js';
export { MarkModule } from './mark.module.js';
export { MaxService } from './max.service.js';
export { type Moment, Moments } from './moments.js';
export { WATCH_STATE_MODEL, WATCHER, type WatchState } from './watch-state.js';
