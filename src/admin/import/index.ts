export { importRecords, type ImportSummary } from './import-records.js';
export { progressOn } from './progress.js';
export { ofTenant, withIds } from './selection.js';
