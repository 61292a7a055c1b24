import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { FiltersModule } from '../filters/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { ProgressModule } from '../progress/index.js';
import { QuarantineModule } from '../quarantine/index.js';
import { RepairModule } from '../repair/index.js';
import { StampingModule } from '../stamping/index.js';
import { AftercareLooks } from './aftercare-looks.js';
import { Aftercare } from './aftercare.js';
import { AuditLooks } from './audit-looks.js';
import { AuditPace } from './audit-pace.js';
import { upkeepModels } from './audit-progress.schema.js';
import { AuditRepair } from './audit-repair.js';
import { Audit } from './audit.js';
import { CollectionOptions } from './collection-options.js';
import { Expiry } from './expiry.js';

@Module({
  imports: [
    FiltersModule,
    LedgerModule,
    MarkModule,
    ProgressModule,
    QuarantineModule,
    RepairModule,
    StampingModule,
    MongooseModule.forFeature(upkeepModels),
  ],
  providers: [
    Aftercare,
    AftercareLooks,
    Audit,
    AuditLooks,
    AuditPace,
    AuditRepair,
    CollectionOptions,
    Expiry,
  ],
  exports: [Aftercare, Audit, Expiry],
})
export class UpkeepModule {}
