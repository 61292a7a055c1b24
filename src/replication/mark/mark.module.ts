import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ProgressModule } from '../progress/index.js';
import { MarkRaiser } from './mark-raiser.js';
import { MARK_MODEL, markSchema } from './mark.schema.js';
import { MaxService } from './max.service.js';
import { MomentWriter } from './moment-writer.js';
import { MOMENT_MODEL, momentSchema } from './moment.schema.js';
import { Moments } from './moments.js';
import { GreatestStamp } from './greatest-stamp.js';

@Module({
  imports: [
    ProgressModule,
    MongooseModule.forFeature([
      { name: MARK_MODEL, schema: markSchema },
      { name: MOMENT_MODEL, schema: momentSchema },
    ]),
  ],
  providers: [MaxService, Moments, MomentWriter, MarkRaiser, GreatestStamp],
  exports: [MaxService, Moments, MomentWriter, MarkRaiser, MongooseModule],
})
export class MarkModule {}
