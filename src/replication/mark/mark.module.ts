import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { MARK_MODEL, markSchema } from './mark.js';
import { MaxService } from './max.service.js';
import { MOMENT_MODEL, momentSchema } from './moment.js';
import { Moments } from './moments.js';
import { Raises } from './raises.js';
import { Stamps } from './stamps.js';
import { WatchedPlace } from './watched-place.js';
import { WATCH_STATE_MODEL, watchStateSchema } from './watch-state.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: WATCH_STATE_MODEL, schema: watchStateSchema },
      { name: MARK_MODEL, schema: markSchema },
      { name: MOMENT_MODEL, schema: momentSchema },
    ]),
  ],
  providers: [MaxService, Moments, Raises, Stamps, WatchedPlace],
  exports: [MaxService, Moments, Raises, MongooseModule],
})
export class MarkModule {}
