export { type Answer, send, type SendOptions } from './answer.js';
export { PASSWORD, TestApplication } from './application.js';
export { eventually } from './eventually.js';
export type { Item, TestFeed, TestPage } from './feed.js';
export { freshDatabase, TestService } from './service.js';
