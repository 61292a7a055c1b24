export * from './pure.js';
export {
  type Patience,
  answerInTime,
  handOver,
  whileReceiving,
  allows,
  answerProblem,
  answeredProblem,
  etagOf,
  sendJson,
  sendWhole,
  serveBytes,
  tag,
} from './answer.js';
export {
  type LogAnswer,
  Connections,
  clientErrorHandler,
  endStalled,
  takeConnection,
  whileProving,
} from './connections.js';
export {
  type CertificateObserver,
  ServedCertificate,
  certificateFiles,
  loadCertificate,
  createSecureServer,
} from './certificate.js';
export {
  endUnreadBodies,
  giveRequestId,
  noteExpectation,
  readPlainTarget,
  refuseExpectation,
} from './middleware.js';
export { isAboutTheService, isConsoleFile } from './own-paths.js';
export { closeQueued } from './queued-answers.js';
