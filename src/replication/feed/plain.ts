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
  deliveriesOf,
  kindConsumers,
  CONSUMER_STATES,
  consumerModels,
  CONSUMERS,
} from './consumers/consumer-state.js';
export { cursorOf } from './page/changes-lines.js';
export type { OpenPage } from './page/page-items.js';
