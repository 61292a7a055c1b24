export { newRecord } from './new-record.js';
export { stock } from './stock.js';
export { Workload } from './workload.js';
