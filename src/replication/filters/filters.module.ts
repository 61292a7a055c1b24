import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ApplicationModule } from '../../application/index.js';
import { ControlModule } from '../../control/index.js';
import { ProgressModule } from '../progress/index.js';
import { StampingModule } from '../stamping/index.js';
import { EditedRecords } from './edited-records.js';
import { FilterChanges } from './filter-changes.js';
import { FilterLooks, FilterStampings } from './filter-jobs.js';
import { FilterReconciler } from './filter-reconciler.js';
import { filterModels } from './filter-version.schema.js';
import { FilterVersions } from './filter-versions.js';
import { FiltersInForce } from './filters-in-force.js';
import { WantedServices } from './wanted-services.js';

@Module({
  imports: [
    ApplicationModule,
    ControlModule,
    ProgressModule,
    StampingModule,
    MongooseModule.forFeature(filterModels),
  ],
  providers: [
    FilterVersions,
    WantedServices,
    EditedRecords,
    FilterReconciler,
    FilterChanges,
    FilterLooks,
    FilterStampings,
    FiltersInForce,
  ],
  exports: [EditedRecords, FilterChanges, FilterLooks, FilterStampings, FiltersInForce],
})
export class FiltersModule {}
