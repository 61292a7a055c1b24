import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { Horizon, KnownChannels } from './known-channels.js';
import { IncompleteIdentities } from './incomplete-identities.js';
import { LedgerSlices } from './ledger-slices.js';
import { Ledger } from './ledger.js';
import { ControlModule } from '../../platform/control/index.js';
import { FirstPass, ProgressReader, UnwatchedFeeds } from './progress-reader.js';
import { WorkedThrough, KnownProgress, WatchedPlace } from './known-progress.js';
import { KnownKinds } from './known-kinds.js';
import { Totals } from './totals.js';
import { Announced, MarkRaiser, GreatestStamp } from './marks.js';
import { HeadWriter, KnownHeads, ChangedMarks } from './heads.js';
import { KnownMoments, MomentWriter, Moments } from './moments.js';
import { Quarantine } from './quarantine.js';
import { ShownIdentities } from './shown-identities.js';
import { recordModels } from '../../record/index.js';
import { storeModels } from './collections.schema.js';
import { FilterVersions } from './filter-versions.js';
import { HashKeys, FiltersInForce } from './filters-in-force.js';
import { FormatWatch } from './format-watch.js';

const providers = [
  Announced,
  ChangedMarks,
  FilterVersions,
  FiltersInForce,
  FirstPass,
  FormatWatch,
  GreatestStamp,
  HashKeys,
  HeadWriter,
  Horizon,
  IncompleteIdentities,
  KnownChannels,
  KnownHeads,
  KnownKinds,
  KnownMoments,
  KnownProgress,
  Ledger,
  LedgerSlices,
  MarkRaiser,
  MomentWriter,
  Moments,
  ProgressReader,
  Quarantine,
  ShownIdentities,
  Totals,
  UnwatchedFeeds,
  WatchedPlace,
  WorkedThrough,
];

/** The service's own collections, and what each instance knows of them. */
@Module({
  imports: [ControlModule, MongooseModule.forFeature([...recordModels, ...storeModels])],
  providers,
  exports: [...providers, MongooseModule],
})
export class StoreModule {}
