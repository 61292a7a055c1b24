export { FirstPassGuard } from './first-pass.guard.js';
export { KnownProgress } from './known-progress.js';
export * from './plain.js';
export { type ProgressLook, ProgressReader } from './progress-reader.js';
export { ProgressModule } from './progress.module.js';
export { Totals } from './totals.js';
export { UnwatchedFeeds } from './unwatched-feeds.js';
export { WatchedPlace } from './watched-place.js';
export { type Now, WorkedThrough } from './worked-through.js';
