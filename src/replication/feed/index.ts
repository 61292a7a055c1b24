export { FeedModule } from './feed.module.js';
export { PageBytes } from './page-bytes.js';
export { SendingPace } from './sending-pace.js';
