import type { mongo } from 'mongoose';
import { literal } from '../common/index.js';
import { CLOCK } from '../database/index.js';
import type { CreateMember } from './dto/create-member.js';
import { emailKeyOf } from './email-key.js';
import { memberData } from './member-data.js';

/** What a client decides about a new member. */
export interface NewMember {
  body: CreateMember;
  createdBy: string;
}

/** The pipeline that fills an upserted member. Both its dates are the one moment of the database's clock. */
export function newMemberPipeline({ body, createdBy }: NewMember): mongo.Document[] {
  return [
    { $set: { type: literal('member'), createDate: CLOCK, createdBy: literal(createdBy) } },
    {
      $set: {
        lastupdated: '$createDate',
        data: literal(memberData(body)),
        ...(body.channels === undefined ? {} : { channels: literal(body.channels) }),
        emailkey: literal(emailKeyOf(body.email)),
      },
    },
  ];
}
