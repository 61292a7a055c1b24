import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../platform/control/index.js';
import { ApplicationLookup } from './application.guard.js';
import { applicationModels } from './application.schema.js';

@Module({
  imports: [ControlModule, MongooseModule.forFeature(applicationModels)],
  providers: [ApplicationLookup],
  exports: [ApplicationLookup, MongooseModule],
})
export class ApplicationModule {}
