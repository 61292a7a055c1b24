export { EventPace } from './event-pace.js';
export { EventStreams } from './event-streams.js';
export { EventsModule } from './events.module.js';
export { ReadingRights } from './reading-rights.js';
