export { type Answer, send, type SendOptions } from './answer.js';
export { PASSWORD, type Stored, TestApplication } from './application.js';
export { eventually } from './eventually.js';
export type { Item, TestFeed, TestPage } from './feed.js';
export { Gate } from './gate.js';
export { FEED_PATHS, MAX_PATHS, pathFor } from './paths.js';
export { expectProblem } from './problem.js';
export { freshDatabase, TestService } from './service.js';
export { withoutWatcher } from './without-watcher.js';
