import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { Claimants } from './stamping/claimants.js';
import { RestampNotes, Restamps } from './stamping/restamps.js';
import { Resurrections } from './stamping/resurrections.js';
import { StampsAbove } from './stamping/stamps-above.js';
import { ApplicationModule } from '../../application/index.js';
import { EditedRecords } from './filters/edited-records.js';
import { FilterChanges } from './filters/filter-changes.js';
import { ServiceChecks, FilterStampings, Jobs, Orphans } from './jobs.js';
import { FilterReconciler } from './filters/filter-reconciler.js';
import { WantedServices } from './filters/wanted-services.js';
import { ChannelReview, EmailReview, IncompleteReview } from './repair/reviews.js';
import { EmailDuplicates, EmailKeys } from './repair/email-keys.js';
import { IgnoredRecords } from './repair/ignored-records.js';
import { RecordMaintenance, RecordRepair } from './repair/record-repair.js';
import { RecordWrites, TooLarge, UnreadableIds } from './repair/record-writes.js';
import { QuarantineRetries } from './upkeep/quarantine-retries.js';
import { QuarantineRetry } from './upkeep/quarantine-retry.js';
import { AuditReads } from './upkeep/audit-reads.js';
import { AuditRepair, Audit } from './upkeep/audit.js';
import { CollectionOptions, Expiry } from './upkeep/expiry.js';
import { Batches, Tenants } from './batches.js';
import { KnowledgeReader, Completion } from './effects/knowledge-reader.js';
import { WrittenMaintenance, DecisionWriter, MissingIds } from './effects/decision-writer.js';
import { Effects } from './effects/effects.js';
import { Lease } from './lease.js';
import { PassMaintenance } from './pass/pass-maintenance.js';
import { PassNumbers } from './pass/pass-numbers.js';
import { PassSteps } from './pass/pass-steps.js';
import { KindPasses } from './pass/kind-passes.js';
import { Pass } from './pass/pass.js';
import { Beginning, Leadership } from './term/leadership.js';
import { Following } from './term/following.js';
import { OwnPass } from './term/own-pass.js';
import { StreamWork } from './term/stream-work.js';
import { Watcher } from './watcher.service.js';
import { SchemaModule } from '../schema/index.js';
import { StoreModule } from '../store/index.js';
import { watcherModels } from './collections.schema.js';

/** Work that only the leading instance does. */
@Module({
  imports: [ApplicationModule, StoreModule, SchemaModule, MongooseModule.forFeature(watcherModels)],
  providers: [
    QuarantineRetries,
    QuarantineRetry,
    Audit,
    AuditReads,
    AuditRepair,
    Batches,
    Beginning,
    WrittenMaintenance,
    ChannelReview,
    Claimants,
    CollectionOptions,
    Completion,
    DecisionWriter,
    EditedRecords,
    Effects,
    EmailDuplicates,
    EmailKeys,
    EmailReview,
    Expiry,
    FilterChanges,
    ServiceChecks,
    FilterReconciler,
    FilterStampings,
    Following,
    IgnoredRecords,
    IncompleteReview,
    Jobs,
    KindPasses,
    KnowledgeReader,
    Leadership,
    Lease,
    MissingIds,
    Orphans,
    OwnPass,
    Pass,
    PassMaintenance,
    PassNumbers,
    PassSteps,
    RecordMaintenance,
    RecordRepair,
    RecordWrites,
    RestampNotes,
    Restamps,
    Resurrections,
    StampsAbove,
    StreamWork,
    Tenants,
    TooLarge,
    UnreadableIds,
    WantedServices,
    Watcher,
  ],
})
export class WatcherModule {}
