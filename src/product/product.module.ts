import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { PRODUCT_MODEL, productSchema } from './product.schema.js';

@Module({
  imports: [MongooseModule.forFeature([{ name: PRODUCT_MODEL, schema: productSchema }])],
  exports: [MongooseModule],
})
export class ProductModule {}
