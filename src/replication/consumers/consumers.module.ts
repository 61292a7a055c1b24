import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ConsumerNotes } from './consumer-notes.js';
import { CONSUMER_MODEL, consumerSchema } from './consumer.schema.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: CONSUMER_MODEL, schema: consumerSchema }])],
  providers: [ConsumerNotes],
  exports: [ConsumerNotes, MongooseModule],
})
export class ConsumersModule {}
