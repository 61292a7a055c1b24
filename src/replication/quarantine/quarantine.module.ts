import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { FiltersModule } from '../filters/index.js';
import { LedgerModule } from '../ledger/index.js';
import { ProgressModule } from '../progress/index.js';
import { RepairModule } from '../repair/index.js';
import { StampingModule } from '../stamping/index.js';
import { Aftercare } from './aftercare.js';
import { Quarantine } from './quarantine.js';
import { QUARANTINE_MODEL, quarantineSchema } from './set-aside.schema.js';

@Module({
  imports: [
    FiltersModule,
    LedgerModule,
    ProgressModule,
    RepairModule,
    StampingModule,
    MongooseModule.forFeature([{ name: QUARANTINE_MODEL, schema: quarantineSchema }]),
  ],
  providers: [Aftercare, Quarantine],
  exports: [Aftercare, Quarantine],
})
export class QuarantineModule {}
