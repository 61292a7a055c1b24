import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { productModels } from './product.schema.js';

@Module({
  imports: [MongooseModule.forFeature(productModels)],
  exports: [MongooseModule],
})
export class ProductModule {}
