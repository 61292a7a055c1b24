export {
  type AnnouncedEvent,
  type DeletedEvent,
  isWritten,
  type TombstoneEvent,
  type WatchedEvent,
  type WrittenEvent,
} from './watched-event.js';
