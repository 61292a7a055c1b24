import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { trailModels } from './audit-trail.schema.js';
import { TrailNotes } from './trail-notes.js';

@Module({
  imports: [MongooseModule.forFeature(trailModels)],
  providers: [TrailNotes],
  exports: [MongooseModule, TrailNotes],
})
export class TrailModule {}
