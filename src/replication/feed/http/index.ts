export { Answers } from './answer.js';
export { ChangesController } from './changes.controller.js';
export { ChannelFeedController } from './channel-feed.controller.js';
export { DigestController } from './digest.controller.js';
export { DigestTurns } from './digest-turns.js';
export { MemberFeedController } from './member-feed.controller.js';
export { aboutRequest, noteConsumer } from './note-consumer.js';
export { ProductFeedController } from './product-feed.controller.js';
export { SendingPace } from './sending-pace.js';
