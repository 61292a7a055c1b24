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
import { Completion } from './completion.js';
import { Effects } from './effects.js';
import { Jobs } from './jobs.js';
import { Leadership } from './leadership.js';
import { Lease } from './lease.js';
import { Orphans } from './orphans.js';
import { PassCare } from './pass/pass-care.js';
import { PassNumbers } from './pass/pass-numbers.js';
import { PassSteps } from './pass/pass-steps.js';
import { Pass } from './pass/pass.js';
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
    Completion,
    Effects,
    Leadership,
    Lease,
    Orphans,
    Pass,
    PassCare,
    PassNumbers,
    PassSteps,
    Jobs,
    Watcher,
  ],
})
export class WatcherModule {}
