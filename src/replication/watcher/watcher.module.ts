import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { MemberModule } from '../../member/index.js';
import { ApplicationModule } from '../../application/index.js';
import { EffectiveModule } from '../effective/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { Aftercare } from './aftercare.js';
import { AuditLooks } from './audit-looks.js';
import { AuditPace } from './audit-pace.js';
import { AUDIT_MODEL, auditSchema } from './audit-progress.js';
import { AuditRepair } from './audit-repair.js';
import { Audit } from './audit.js';
import { Batches } from './batches.js';
import { ChannelReview } from './channel-review.js';
import { Completion } from './completion.js';
import { Effects } from './effects.js';
import {
  EMAIL_DUPLICATE_MODEL,
  EMAIL_HOLDER_MODEL,
  emailDuplicateSchema,
  EmailDuplicates,
  emailHolderSchema,
} from './email-duplicates.js';
import { EmailKeys } from './email-keys.js';
import { EmailReview } from './email-review.js';
import { Expiry } from './expiry.js';
import { Filters } from './filters.js';
import { IgnoredRecords } from './ignored-records.js';
import { Leadership } from './leadership.js';
import { Lease } from './lease.js';
import { Mender } from './mender.js';
import { Numbers } from './numbers.js';
import { Orphans } from './orphans.js';
import { PassCare } from './pass-care.js';
import { PassNumbers } from './pass-numbers.js';
import { PassSteps } from './pass-steps.js';
import { Pass } from './pass.js';
import { Quarantine, QUARANTINE_MODEL, quarantineSchema } from './quarantine.js';
import { Rebirths } from './rebirths.js';
import { Rivals } from './rivals.js';
import { Restamps } from './restamps.js';
import { TooLarge } from './too-large.js';
import { Totals } from './totals.js';
import { UnreadableIds } from './unreadable-ids.js';
import { Upkeep } from './upkeep.js';
import { Watcher } from './watcher.service.js';
import { WorkedThrough } from './worked-through.js';

@Module({
  imports: [
    ApplicationModule,
    EffectiveModule,
    LedgerModule,
    MarkModule,
    MemberModule,
    MongooseModule.forFeature([
      { name: EMAIL_DUPLICATE_MODEL, schema: emailDuplicateSchema },
      { name: EMAIL_HOLDER_MODEL, schema: emailHolderSchema },
      { name: AUDIT_MODEL, schema: auditSchema },
      { name: QUARANTINE_MODEL, schema: quarantineSchema },
    ]),
  ],
  providers: [
    Aftercare,
    Audit,
    AuditLooks,
    AuditPace,
    AuditRepair,
    Batches,
    ChannelReview,
    Completion,
    Effects,
    EmailDuplicates,
    EmailKeys,
    EmailReview,
    Expiry,
    Filters,
    IgnoredRecords,
    Leadership,
    Lease,
    Mender,
    Numbers,
    Orphans,
    Pass,
    PassCare,
    PassNumbers,
    PassSteps,
    Quarantine,
    Rebirths,
    Rivals,
    Restamps,
    TooLarge,
    Totals,
    UnreadableIds,
    Upkeep,
    Watcher,
    WorkedThrough,
  ],
})
export class WatcherModule {}
