import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { MemberModule } from '../../member/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { Effects } from './effects.js';
import { EMAIL_DUPLICATE_MODEL, emailDuplicateSchema } from './email-duplicates.js';
import { EmailKeys } from './email-keys.js';
import { IgnoredRecords } from './ignored-records.js';
import { Leadership } from './leadership.js';
import { Lease } from './lease.js';
import { Mender } from './mender.js';
import { Pass } from './pass.js';
import { Watcher } from './watcher.service.js';

@Module({
  imports: [
    LedgerModule,
    MarkModule,
    MemberModule,
    MongooseModule.forFeature([{ name: EMAIL_DUPLICATE_MODEL, schema: emailDuplicateSchema }]),
  ],
  providers: [Effects, EmailKeys, IgnoredRecords, Leadership, Lease, Mender, Pass, Watcher],
})
export class WatcherModule {}
