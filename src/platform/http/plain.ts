export * from './pure.js';
export { type Patience, answerInTime, handOver, whileReceiving } from './answer-in-time.js';
export { allows, answerProblem, answeredProblem, etagOf, sendJson, serveBytes, tag } from './answer.js';
export {
  Connections,
  answerClientError,
  endStalled,
  refuseExpectation,
  takeConnection,
  whileProving,
} from './connections.js';
export {
  type CertificateObserver,
  ServedCertificate,
  certificateFiles,
  loadCertificate,
} from './certificate.js';
export { createSecureServer } from './secure-server.js';
export { endUnreadBodies, giveRequestId, readPlainTarget } from './middleware.js';
