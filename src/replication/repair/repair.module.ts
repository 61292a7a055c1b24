import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { MemberModule } from '../../member/index.js';
import { LedgerModule } from '../ledger/index.js';
import { ProgressModule } from '../progress/index.js';
import { QuarantineModule } from '../quarantine/index.js';
import { StampingModule } from '../stamping/index.js';
import { ChannelReview } from './channel-review.js';
import { repairModels } from './email-duplicate.schema.js';
import { EmailDuplicates } from './email-duplicates.js';
import { EmailKeys } from './email-keys.js';
import { EmailReview } from './email-review.js';
import { IncompleteReview } from './incomplete-review.js';
import { IgnoredRecords } from './ignored-records.js';
import { RecordCare } from './record-care.js';
import { RecordRepair } from './record-repair.js';
import { RecordWrites } from './record-writes.js';
import { TooLarge } from './too-large.js';
import { UnreadableIds } from './unreadable-ids.js';

@Module({
  imports: [
    LedgerModule,
    MemberModule,
    ProgressModule,
    QuarantineModule,
    StampingModule,
    MongooseModule.forFeature(repairModels),
  ],
  providers: [
    ChannelReview,
    EmailDuplicates,
    EmailKeys,
    EmailReview,
    IgnoredRecords,
    IncompleteReview,
    RecordRepair,
    RecordCare,
    RecordWrites,
    TooLarge,
    UnreadableIds,
  ],
  exports: [ChannelReview, EmailReview, IgnoredRecords, IncompleteReview, RecordCare],
})
export class RepairModule {}
