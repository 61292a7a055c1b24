import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../control/index.js';
import { ApplicationLookup } from './application-lookup.js';
import { applicationModels } from './models.js';

@Module({
  imports: [ControlModule, MongooseModule.forFeature(applicationModels)],
  providers: [ApplicationLookup],
  exports: [ApplicationLookup, MongooseModule],
})
export class ApplicationModule {}
