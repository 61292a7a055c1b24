export { importRecords, type ImportSummary } from './import-records.js';
export { progressOn } from './progress.js';
