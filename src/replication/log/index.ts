export { Reader } from './batch-reader.js';
export { type Batch, HistoryLostError, isAhead, type Opening, openStream } from './change-stream.js';
export { asLongAsWorkedOn, INDEX_BUILDS } from './long-command.js';
export * from './pure.js';
