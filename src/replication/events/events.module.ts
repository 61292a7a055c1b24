import { Module } from '@nestjs/common';
import { ApplicationModule } from '../../application/index.js';
import { AuthModule } from '../../auth/index.js';
import { MarkModule } from '../mark/index.js';
import { EventPace } from './event-pace.js';
import { EventStreams } from './event-streams.js';
import { ReadingRights } from './reading-rights.js';

@Module({
  imports: [ApplicationModule, AuthModule, MarkModule],
  providers: [EventPace, EventStreams, ReadingRights],
  exports: [EventStreams, ReadingRights],
})
export class EventsModule {}
