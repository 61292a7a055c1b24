import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../../control/index.js';
import { ProgressModule } from '../progress/index.js';
import { Announced } from './announced.js';
import { HeadWriter } from './head-writer.js';
import { HEAD_MODEL, headSchema } from './head.schema.js';
import { KnownHeads } from './known-heads.js';
import { KnownMoments } from './known-moments.js';
import { MarkRaiser } from './mark-raiser.js';
import { MARK_MODEL, markSchema } from './mark.schema.js';
import { MaxService } from './max.service.js';
import { MomentWriter } from './moment-writer.js';
import { MOMENT_MODEL, momentSchema } from './moment.schema.js';
import { Moments } from './moments.js';
import { GreatestStamp } from './greatest-stamp.js';

@Module({
  imports: [
    ControlModule,
    ProgressModule,
    MongooseModule.forFeature([
      { name: MARK_MODEL, schema: markSchema },
      { name: HEAD_MODEL, schema: headSchema },
      { name: MOMENT_MODEL, schema: momentSchema },
    ]),
  ],
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
