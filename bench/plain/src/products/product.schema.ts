import { Prop, Schema, SchemaFactory } from '@nestjs/mongoose';
import { type HydratedDocument, Schema as MongooseSchema, type Types } from 'mongoose';

export type ProductDocument = HydratedDocument<Product>;

@Schema({ collection: 'products', versionKey: false, id: false })
export class Product {
  _id: Types.ObjectId;

  @Prop({ required: true })
  organizationid: string;

  @Prop({ required: true })
  appid: string;

  @Prop({ required: true })
  id: string;

  @Prop({ default: 'product' })
  type: string;

  @Prop()
  createDate: Date;

  @Prop()
  createdBy: string;

  @Prop()
  lastupdated: Date;

  @Prop({ type: MongooseSchema.Types.Mixed, default: {} })
  data: Record<string, unknown>;

  @Prop({ type: [String], default: [] })
  channels: string[];
}

export const ProductSchema = SchemaFactory.createForClass(Product)
  .index({ organizationid: 1, appid: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 });
