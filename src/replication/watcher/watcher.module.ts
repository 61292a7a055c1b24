import { Module } from '@nestjs/common';
import { FiltersModule } from '../filters/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { ProgressModule } from '../progress/index.js';
import { QuarantineModule } from '../quarantine/index.js';
import { RepairModule } from '../repair/index.js';
import { StampingModule } from '../stamping/index.js';
import { UpkeepModule } from '../upkeep/index.js';
import { Batches } from './batches.js';
import { KnowledgeReader } from './effects/knowledge-reader.js';
import { CareForWritten } from './effects/care-for-written.js';
import { Completion } from './effects/completion.js';
import { DecisionWriter } from './effects/decision-writer.js';
import { MissingIds } from './effects/missing-ids.js';
import { Tenants } from './effects/tenants.js';
import { Effects } from './effects/effects.js';
import { Jobs } from './jobs.js';
import { Lease } from './lease.js';
import { Orphans } from './orphans.js';
import { PassCare } from './pass/pass-care.js';
import { PassNumbers } from './pass/pass-numbers.js';
import { PassSteps } from './pass/pass-steps.js';
import { Pass } from './pass/pass.js';
import { Beginning } from './term/beginning.js';
import { Following } from './term/following.js';
import { OwnPass } from './term/own-pass.js';
import { Leadership } from './term/leadership.js';
import { StreamWork } from './term/stream-work.js';
import { Watcher } from './watcher.service.js';

@Module({
  imports: [
    FiltersModule,
    LedgerModule,
    MarkModule,
    ProgressModule,
    QuarantineModule,
    RepairModule,
    StampingModule,
    UpkeepModule,
  ],
  providers: [
    Batches,
    Beginning,
    CareForWritten,
    Completion,
    DecisionWriter,
    Effects,
    Following,
    OwnPass,
    KnowledgeReader,
    Leadership,
    Lease,
    MissingIds,
    Orphans,
    Pass,
    PassCare,
    PassNumbers,
    PassSteps,
    Jobs,
    StreamWork,
    Tenants,
    Watcher,
  ],
})
export class WatcherModule {}
