import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { StoreModule } from '../store/index.js';
import { SchemaSampling } from './schema-sampling.js';
import { Schemas } from './schemas.js';
import { schemaModels } from './stored-schemas.js';

/** What the items of services look like. */
@Module({
  imports: [StoreModule, MongooseModule.forFeature(schemaModels)],
  providers: [Schemas, SchemaSampling],
  exports: [Schemas, SchemaSampling],
})
export class SchemaModule {}
