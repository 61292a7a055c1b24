export { Reader } from './batch-reader.js';
export { type Batch, HistoryLostError, isAhead, type Opening, openStream } from './change-stream.js';
export {
  type AnnouncedEvent,
  type DeletedEvent,
  isWritten,
  type TombstoneEvent,
  type WatchedEvent,
  type WrittenEvent,
} from './events.js';
export { asLongAsWorkedOn, INDEX_BUILDS } from './long-command.js';
