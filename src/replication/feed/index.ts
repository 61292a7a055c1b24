export { FeedModule } from './feed.module.js';
export { noteConsumer } from './http/index.js';
