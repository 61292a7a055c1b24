export type { Late, Reason } from './late.js';
export type { RestampReason } from './reason.js';
export { RestampBook, writeRestamps } from './restamp-book.js';
export { restampGaps, restampsOf } from './restamp-history.js';
export {
  type EditedService,
  type RestampGap,
  type RestampNote,
  stampingModels,
} from './restamp-note.schema.js';
