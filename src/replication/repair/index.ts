export { ChannelReview } from './channel-review.js';
export { countEmailDuplicates, EMAIL_DUPLICATES } from './email-duplicate.schema.js';
export { EmailReview } from './email-review.js';
export { IgnoredRecords } from './ignored-records.js';
export { lacksId, PRESENT, type PresentRecord, type RecordLook } from './present-record.js';
export { RecordCare } from './record-care.js';
export { RepairModule } from './repair.module.js';
export { IncompleteReview } from './incomplete-review.js';
