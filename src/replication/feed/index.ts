export { FeedModule } from './feed.module.js';
export { aboutRequest, noteConsumer } from './http/index.js';
