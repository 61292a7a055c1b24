export * from './plain.js';
export { amongServices } from './filter-versions.js';
export { readFences } from './marks.js';
export { FilterVersions } from './filter-versions.js';
export { FiltersInForce, OutdatedServiceError } from './filters-in-force.js';
export { HeadWriter, KnownHeads } from './heads.js';
export { Horizon } from './horizon.js';
export { IncompleteIdentities } from './incomplete-identities.js';
export { KnownChannels } from './known-channels.js';
export { KnownProgress, WatchedPlace } from './known-progress.js';
export { type EntryStretch, LedgerSlices } from './ledger-slices.js';
export { Ledger } from './ledger.js';
export { Announced, GreatestStamp, MarkRaiser } from './marks.js';
export { type MomentLook, MomentWriter, Moments } from './moments.js';
export {
  FirstPassGuard,
  type Now,
  type PassState,
  ProgressReader,
  UnwatchedFeeds,
  WorkedThrough,
  neverPassed,
  waitingAt,
  waitingFor,
} from './progress-reader.js';
export { Quarantine, type RefusedWrite } from './quarantine.js';
export { StoreModule } from './store.module.js';
export { Totals } from './totals.js';
