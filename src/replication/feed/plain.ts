export {
  type ConsumerLag,
  type ConsumerReport,
  consumerLags,
  reportConsumers,
} from './consumers/consumer-report.js';
export {
  DELIVERY_STATES,
  type Delivery,
  type DeliveryState,
  type KindConsumers,
  deliveriesOf,
  kindConsumers,
} from './consumers/deliveries.js';
export { CONSUMER_STATES } from './consumers/consumer-state.js';
export { consumerModels, CONSUMERS } from './consumers/consumer.schema.js';
export { cursorOf } from './page/changes-cursor.js';
export type { OpenPage } from './page/page-items.js';
