export {
  AUDITS,
  type AuditProgress,
  EMAIL_DUPLICATES,
  EMAIL_HOLDERS,
  type EditedService,
  LEDGER_AUDIT,
  RESTAMPS,
  type RestampGap,
  type RestampNote,
  countEmailDuplicates,
  watcherModels,
} from './collections.schema.js';
export { type PresentRecord } from './repair/present-record.js';
export { RestampBook, restampGaps, restampsOf, writeRestamps } from './stamping/restamp-book.js';
