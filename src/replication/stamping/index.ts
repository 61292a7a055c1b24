export type { Late, Reason } from './late.js';
export type { RestampReason } from './reason.js';
export { RestampBook, writeRestamps } from './restamp-book.js';
export { restampGaps, restampsOf } from './restamp-history.js';
export type { EditedService, RestampGap, RestampNote } from './restamp-note.schema.js';
export { RestampNotes } from './restamp-notes.js';
export { Restamps } from './restamps.js';
export { Resurrections } from './resurrections.js';
export { StampingModule } from './stamping.module.js';
