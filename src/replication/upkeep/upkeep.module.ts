import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { ProgressModule } from '../progress/index.js';
import { StampingModule } from '../stamping/index.js';
import { AuditLooks } from './audit-looks.js';
import { AuditPace } from './audit-pace.js';
import { AUDIT_MODEL, auditSchema } from './audit-progress.schema.js';
import { AuditRepair } from './audit-repair.js';
import { Audit } from './audit.js';
import { Expiry } from './expiry.js';

@Module({
  imports: [
    LedgerModule,
    MarkModule,
    ProgressModule,
    StampingModule,
    MongooseModule.forFeature([{ name: AUDIT_MODEL, schema: auditSchema }]),
  ],
  providers: [Audit, AuditLooks, AuditPace, AuditRepair, Expiry],
  exports: [Audit, Expiry],
})
export class UpkeepModule {}
