export { Chase } from './chase.js';
export { newRecord } from './new-record.js';
export { UPSERTER } from './poison.js';
export { stock } from './stock.js';
export { Workload } from './workload.js';
