export { Chase } from './chase.js';
export { designedRecord } from './designed-records.js';
export { changedFields, newRecord } from './new-record.js';
export { UPSERTER } from './poison.js';
export { stamped } from './stamping.js';
export { stock } from './stock.js';
export { Workload } from './workload.js';
