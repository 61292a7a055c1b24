import { randomUUID } from 'node:crypto';
import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { plainToInstance } from 'class-transformer';
import mongoose, { Model } from 'mongoose';
import type { FeedQuery } from '../feed/feed-query.dto.js';
import { type FeedPage, readFeed, readMax } from '../feed/feed.js';
import { type CreateMemberDto, MemberDto, type PatchMemberDto } from './member.dto.js';
import { Member, type MemberDocument } from './member.schema.js';

const DUPLICATE_KEY = 11000;

interface Tenant {
  org: string;
  app: string;
}

@Injectable()
export class MembersService {
  constructor(@InjectModel(Member.name) private readonly members: Model<Member>) {}

  max(tenant: Tenant): Promise<{ offset: Date }> {
    return readMax(this.members, tenant);
  }

  updates(tenant: Tenant, query: FeedQuery): Promise<FeedPage<MemberDto>> {
    return readFeed(this.members, MemberDto, tenant, query);
  }

  async create({ org, app }: Tenant, createdBy: string, data: CreateMemberDto): Promise<MemberDto> {
    const now = new Date();
    const member = new this.members({
      organizationid: org,
      appid: app,
      id: randomUUID(),
      createDate: now,
      createdBy,
      lastupdated: now,
      data,
    });
    return saved(member);
  }

  async patch({ org, app }: Tenant, id: string, changes: PatchMemberDto): Promise<MemberDto> {
    const member = await this.members.findOne({ organizationid: org, appid: app, id });
    if (!member) throw new NotFoundException();
    Object.assign(member.data, changes);
    member.lastupdated = new Date();
    return saved(member);
  }
}

async function saved(member: MemberDocument): Promise<MemberDto> {
  await member.save().catch(refused);
  return plainToInstance(MemberDto, member.toObject(), { excludeExtraneousValues: true });
}

function refused(error: unknown): never {
  if (error instanceof mongoose.mongo.MongoServerError && error.code === DUPLICATE_KEY)
    throw new ConflictException('E-mail is in use');
  if (error instanceof mongoose.Error.VersionError) throw new ConflictException('Member was modified');
  throw error;
}
