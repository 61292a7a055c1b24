import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { AUDIT_TRAIL_MODEL, auditTrailSchema } from './audit-trail.schema.js';
import { TrailNotes } from './trail-notes.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: AUDIT_TRAIL_MODEL, schema: auditTrailSchema }])],
  providers: [TrailNotes],
  exports: [MongooseModule, TrailNotes],
})
export class TrailModule {}
