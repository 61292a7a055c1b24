export { IdList } from './id-list.js';
export { type BatchPart, NumericIdTexts } from './numeric-ids.js';
export { hintOf, type Plan, planOf } from './plan.js';
export { RawFind } from './raw-find.js';
export { carries, matching, notMatching, type Selection, tombstones } from './selection.js';
export { TombstoneFilter } from './tombstone-filter.js';
export { WindowLists } from './window-lists.js';
export {
  type Behind,
  isEmpty,
  MOST_BEHIND,
  type Narrowed,
  pageQuery,
  type Window,
  windowQuery,
  windowQueryAlongStamps,
} from './window.js';
