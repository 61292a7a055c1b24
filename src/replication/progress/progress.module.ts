import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../../control/index.js';
import { FirstPass } from './first-pass.js';
import { KnownProgress } from './known-progress.js';
import { ProgressReader } from './progress-reader.js';
import { Totals } from './totals.js';
import { progressModels } from './watch-state.schema.js';
import { UnwatchedFeeds } from './unwatched-feeds.js';
import { WatchedPlace } from './watched-place.js';
import { WorkedThrough } from './worked-through.js';

@Module({
  imports: [ControlModule, MongooseModule.forFeature(progressModels)],
  providers: [FirstPass, KnownProgress, ProgressReader, Totals, UnwatchedFeeds, WatchedPlace, WorkedThrough],
  exports: [
    FirstPass,
    KnownProgress,
    ProgressReader,
    Totals,
    UnwatchedFeeds,
    WatchedPlace,
    WorkedThrough,
    MongooseModule,
  ],
})
export class ProgressModule {}
