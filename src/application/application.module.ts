import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ControlModule } from '../control/index.js';
import { ApplicationLookup } from './application-lookup.js';
import { APPLICATION_MODEL, applicationSchema } from './application.schema.js';
import { SERVICE_MODEL, serviceSchema } from './service.schema.js';

@Module({
  imports: [
    ControlModule,
    MongooseModule.forFeature([
      { name: APPLICATION_MODEL, schema: applicationSchema },
      { name: SERVICE_MODEL, schema: serviceSchema },
    ]),
  ],
  providers: [ApplicationLookup],
  exports: [ApplicationLookup, MongooseModule],
})
export class ApplicationModule {}
