export { answerInTime, handOver, type Patience, whileReceiving } from './answer-in-time.js';
export { answerClientError } from './client-error.js';
export { serveDocs } from './docs.js';
export { Problems } from './openapi.js';
export { ProblemFilter } from './problem.filter.js';
export * from './pure.js';
export { giveRequestId } from './request-id.js';
export { endUnreadBodies } from './unread-body.js';
