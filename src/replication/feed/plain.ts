export { type ConsumerReport, reportConsumers } from './consumers/consumer-report.js';
export { consumerModels } from './consumers/consumer.schema.js';
export { cursorOf } from './page/changes-cursor.js';
export type { OpenPage } from './page/page-items.js';
