export {
  AUDITS,
  type AuditProgress,
  EMAIL_DUPLICATES,
  type EditedService,
  LEDGER_AUDIT,
  type RestampGap,
  type RestampNote,
  countEmailDuplicates,
  watcherModels,
} from './collections.schema.js';
export { type PresentRecord } from './repair/present-record.js';
export { RestampBook, restampGaps, restampsOf, writeRestamps } from './stamping/restamp-book.js';
