export { type BatchQuery, BatchReader, type ReadBatch } from './batch-reader.js';
export { type Breadth, FIRST_BREADTH, narrower, relaxed, wider } from './breadth.js';
export { NumericIdTexts } from './numeric-ids.js';
export { RawFind } from './raw-find.js';
export { carries, matching, notMatching, type Selection, tombstones } from './selection.js';
export { TombstoneFilter } from './tombstone-filter.js';
export { WindowLists } from './window-lists.js';
export { type Behind, isEmpty, MOST_BEHIND, type Window } from './window.js';
