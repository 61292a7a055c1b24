export { type ImportSummary, importRecords, progressOn } from './import-records.js';
export { linesOf } from './lines.js';
