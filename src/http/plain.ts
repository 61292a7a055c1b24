export { answerInTime, handOver, type Patience, whileReceiving } from './answer-in-time.js';
export { answerClientError, refuseExpectation } from './client-error.js';
export { Connections, takeConnection, whileProving } from './connections.js';
export { allows, answeredProblem, answerProblem, etagOf, sendJson, serveBytes, tag } from './answer.js';
export * from './pure.js';
export { endUnreadBodies, giveRequestId, readPlainTarget } from './middleware.js';
