import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { Entries } from './entries.js';
import { EFFECTIVE_MODEL, effectiveSchema } from './effective.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: EFFECTIVE_MODEL, schema: effectiveSchema }])],
  providers: [Entries],
  exports: [Entries, MongooseModule],
})
export class EffectiveModule {}
