import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { FeedModule } from '../../replication/feed/index.js';
import { StoreModule } from '../../replication/store/index.js';
import { SchemaModule } from '../../replication/schema/index.js';
import { TrailModule } from '../../trail/index.js';
import { erasureModels } from '../index.js';
import { ChangeContexts, EditLimiter, ListingLimiter, TrialLimiter } from './administration.js';
import { ApplicationsController } from './applications.controller.js';
import { ConfigurationController } from './configuration.controller.js';
import { CredentialsController } from './credentials.controller.js';
import { ErasuresController } from './erasures.controller.js';
import { KindsController } from './kinds.controller.js';
import { OverviewController, RecordsController } from './records.controller.js';
import { ServicesController } from './services.controller.js';

/** The administration API, `/admin/v1`. Commands use the same functions, without this module. */
@Module({
  imports: [TrailModule, FeedModule, SchemaModule, StoreModule, MongooseModule.forFeature(erasureModels)],
  controllers: [
    ApplicationsController,
    ServicesController,
    CredentialsController,
    ConfigurationController,
    OverviewController,
    RecordsController,
    ErasuresController,
    KindsController,
  ],
  providers: [ChangeContexts, EditLimiter, ListingLimiter, TrialLimiter],
  exports: [ChangeContexts],
})
export class AdministrationModule {}
