import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { EFFECTIVE_MODEL, effectiveSchema } from './effective.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: EFFECTIVE_MODEL, schema: effectiveSchema }])],
  exports: [MongooseModule],
})
export class EffectiveModule {}
