import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { LedgerModule } from '../ledger/index.js';
import { RESTAMP_MODEL, restampSchema } from './restamp-note.schema.js';
import { RestampNotes } from './restamp-notes.js';
import { Restamps } from './restamps.js';
import { Resurrections } from './resurrections.js';

@Module({
  imports: [LedgerModule, MongooseModule.forFeature([{ name: RESTAMP_MODEL, schema: restampSchema }])],
  providers: [RestampNotes, Restamps, Resurrections],
  exports: [Restamps, Resurrections],
})
export class StampingModule {}
