export { FormatWatch } from './format-watch.js';
export * from './plain.js';
export { ChangedMarks, HeadWriter, KnownHeads } from './heads.js';
export { FilterVersions, amongServices } from './filter-versions.js';
export { FiltersInForce, OutdatedServiceError, HashKeys } from './filters-in-force.js';
export { IncompleteIdentities } from './incomplete-identities.js';
export { Horizon, KnownChannels } from './known-channels.js';
export { type KindAsked, KindsGuard, KnownKinds } from './known-kinds.js';
export { KnownProgress, WatchedPlace, type Now, type Processed, WorkedThrough } from './known-progress.js';
export { type EntryRange, LedgerSlices } from './ledger-slices.js';
export { Ledger } from './ledger.js';
export { Announced, GreatestStamp, MarkRaiser, hasMarks, readFences } from './marks.js';
export { type ObservedMoment, MomentWriter, Moments } from './moments.js';
export {
  FirstPassGuard,
  type PassState,
  OF_JOBS,
  ProgressReader,
  UnwatchedFeeds,
  neverPassed,
  waitingAt,
  waitingFor,
} from './progress-reader.js';
export { Quarantine, type RefusedWrite } from './quarantine.js';
export { ShownIdentities } from './shown-identities.js';
export { StoreModule } from './store.module.js';
export { Totals } from './totals.js';
