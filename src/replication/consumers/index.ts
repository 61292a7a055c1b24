export { type Call, EVERY_SERVICE } from './call.js';
export { ConsumerNotes } from './consumer-notes.js';
export { type ConsumerReport, reportConsumers } from './consumer-report.js';
export { ConsumersModule } from './consumers.module.js';
