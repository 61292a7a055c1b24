import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { APPLICATION_MODEL, applicationSchema } from './application.schema.js';
import { SERVICE_MODEL, serviceSchema } from './service.schema.js';

@Module({
  imports: [
    MongooseModule.forFeature([
      { name: APPLICATION_MODEL, schema: applicationSchema },
      { name: SERVICE_MODEL, schema: serviceSchema },
    ]),
  ],
  exports: [MongooseModule],
})
export class ApplicationModule {}
