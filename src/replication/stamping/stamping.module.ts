import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { LedgerModule } from '../ledger/index.js';
import { Claimants } from './claimants.js';
import { QuarantineModule } from '../quarantine/index.js';
import { stampingModels } from './restamp-note.schema.js';
import { RestampNotes } from './restamp-notes.js';
import { Restamps } from './restamps.js';
import { Resurrections } from './resurrections.js';
import { StampsAbove } from './stamps-above.js';

@Module({
  imports: [LedgerModule, QuarantineModule, MongooseModule.forFeature(stampingModels)],
  providers: [Claimants, RestampNotes, Restamps, Resurrections, StampsAbove],
  exports: [Claimants, Restamps, Resurrections],
})
export class StampingModule {}
