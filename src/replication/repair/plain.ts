export { countEmailDuplicates, EMAIL_DUPLICATES, repairModels } from './email-duplicate.schema.js';
export { lacksId, PRESENT, type PresentRecord, type RecordLook } from './present-record.js';
