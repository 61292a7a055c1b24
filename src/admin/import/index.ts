export { importRecords, type ImportSummary } from './import-records.js';
export { linesOf } from './lines.js';
export { progressOn } from './progress.js';
