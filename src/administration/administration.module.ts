import { Module } from '@nestjs/common';
import { ConsumersModule } from '../replication/consumers/index.js';
import { TrailModule } from '../trail/index.js';
import { Desks } from './http/administration.js';
import { ApplicationsController } from './http/applications.controller.js';
import { ConfigurationController } from './http/configuration.controller.js';
import { CredentialsController } from './http/credentials.controller.js';
import { OverviewController } from './http/overview.controller.js';
import { EditPace } from './http/edit-pace.js';
import { ListingPlaces } from './http/listing-places.js';
import { PreviewPlaces } from './http/preview-places.js';
import { RecordsController } from './http/records.controller.js';
import { ServicesController } from './http/services.controller.js';

/** The administration API, `/admin/v1`. Commands use the same functions, without this module. */
@Module({
  imports: [TrailModule, ConsumersModule],
  controllers: [
    ApplicationsController,
    ServicesController,
    CredentialsController,
    ConfigurationController,
    OverviewController,
    RecordsController,
  ],
  providers: [Desks, EditPace, ListingPlaces, PreviewPlaces],
  exports: [Desks],
})
export class AdministrationModule {}
