import { Prop, Schema, SchemaFactory } from '@nestjs/mongoose';
import { type HydratedDocument, Types } from 'mongoose';

export type MemberDocument = HydratedDocument<Member>;

@Schema({ _id: false })
export class MemberData {
  @Prop({ required: true })
  accountnumber: string;

  @Prop({ required: true, lowercase: true })
  email: string;

  @Prop()
  elevel?: number;

  @Prop()
  contactname?: string;
}

@Schema({ collection: 'members', optimisticConcurrency: true, id: false })
export class Member {
  _id: Types.ObjectId;

  @Prop({ required: true })
  organizationid: string;

  @Prop({ required: true })
  appid: string;

  @Prop({ required: true })
  id: string;

  @Prop({ default: 'member' })
  type: string;

  @Prop()
  createDate: Date;

  @Prop()
  createdBy: string;

  @Prop()
  lastupdated: Date;

  @Prop({ type: SchemaFactory.createForClass(MemberData) })
  data: MemberData;
}

export const MemberSchema = SchemaFactory.createForClass(Member)
  .index({ organizationid: 1, appid: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, id: 1 }, { unique: true })
  .index({ organizationid: 1, appid: 1, 'data.email': 1 }, { unique: true });
