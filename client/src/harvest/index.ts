export { Harvester, type Harvested, type HarvestOptions, OtherFeedError } from './harvester.js';
export { SourceRestoredError } from './restored.js';
export { type HarvestedFeed, sourceOf } from './feed-source.js';
export { follow, type FollowOptions } from './follow.js';
export type {
  AskedDigest,
  HarvestSource,
  ReadFrom,
  StampedWithin,
  ToldChange,
  ToldDelete,
  ToldDigest,
  ToldPage,
  ToldUpsert,
} from './source.js';
export type { CopyPhase, CopyState } from './state.js';
export {
  type AppliedPage,
  type CopyStore,
  CopyTakenError,
  type HeldRecord,
  type HeldStamp,
  type Mended,
} from './store.js';
export { type Compared, type CopyDifference, verify, type VerifyOptions, type Verified } from './verify.js';
export { repair, type Repaired } from './repair.js';
export type { UnfitRecord } from './unfit.js';
