import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { MaxService } from './max.service.js';
import { Moments } from './moments.js';
import { WATCH_STATE_MODEL, watchStateSchema } from './watch-state.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: WATCH_STATE_MODEL, schema: watchStateSchema }])],
  providers: [MaxService, Moments],
  exports: [MaxService, Moments, MongooseModule],
})
export class MarkModule {}
