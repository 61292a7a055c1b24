export { type Call, EVERY_SERVICE } from './call.js';
export { type ConsumerReport, reportConsumers } from './consumer-report.js';
