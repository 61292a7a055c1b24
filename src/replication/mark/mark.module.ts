import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../../control/index.js';
import { ProgressModule } from '../progress/index.js';
import { Announced } from './announced.js';
import { HeadWriter } from './head-writer.js';
import { KnownHeads } from './known-heads.js';
import { KnownMoments } from './known-moments.js';
import { MarkRaiser } from './mark-raiser.js';
import { MaxService } from './max.service.js';
import { markModels } from './models.js';
import { MomentWriter } from './moment-writer.js';
import { Moments } from './moments.js';
import { GreatestStamp } from './greatest-stamp.js';

@Module({
  imports: [ControlModule, ProgressModule, MongooseModule.forFeature(markModels)],
  providers: [
    Announced,
    MaxService,
    HeadWriter,
    KnownHeads,
    KnownMoments,
    Moments,
    MomentWriter,
    MarkRaiser,
    GreatestStamp,
  ],
  exports: [Announced, MaxService, HeadWriter, KnownHeads, Moments, MomentWriter, MarkRaiser, MongooseModule],
})
export class MarkModule {}
