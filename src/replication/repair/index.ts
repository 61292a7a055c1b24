export { ChannelReview } from './channel-review.js';
export { EmailReview } from './email-review.js';
export { IgnoredRecords } from './ignored-records.js';
export * from './plain.js';
export { RecordCare } from './record-care.js';
export { RepairModule } from './repair.module.js';
export { IncompleteReview } from './incomplete-review.js';
