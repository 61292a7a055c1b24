import { Controller, Get, Headers, Param, Patch, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../application/index.js';
import { Acting, type Actor } from '../trail/index.js';
import { Needs } from '../auth/index.js';
import { sendJson, tag } from '../http/index.js';
import type { Tenant } from '../record/index.js';
import { CreateMember, JsonBody, PatchAddress, PatchMember } from './bodies.js';
import { DocumentedCreate, DocumentedMembers, DocumentedPatch, DocumentedRead } from './member.docs.js';
import { MemberService } from './member.service.js';
import { mergeAddress, mergeMember } from './merge.js';
import type { StoredMember } from './stored-member.js';

/** The write endpoints (contract §2). */
@DocumentedMembers()
@Controller(':org/:app/api/v0.1/member')
export class MemberController {
  constructor(private readonly members: MemberService) {}

  @Post()
  @Needs('write')
  @DocumentedCreate(CreateMember)
  async createMember(
    @CurrentApplication() application: Application,
    @JsonBody() body: CreateMember,
    @Acting() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const tenant = tenantOf(application);
    const { id, member } = await this.members.create(tenant, { body, createdBy: actor.who }, actor);
    response.setHeader('Location', `member/${id}`);
    answer(response, member);
  }

  @Patch(':memberid')
  @Needs('write')
  @DocumentedPatch('Changes a member', PatchMember)
  async patchMember(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Headers('If-Match') ifMatch: string | undefined,
    @JsonBody() body: PatchMember,
    @Acting() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const target = { tenant: tenantOf(application), id, ifMatch, actor };
    answer(response, await this.members.patch(target, (record) => mergeMember(record, body)));
  }

  @Patch(':memberid/address')
  @Needs('write')
  @DocumentedPatch('Changes the address of a member', PatchAddress)
  async patchMemberAddress(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Headers('If-Match') ifMatch: string | undefined,
    @JsonBody() body: PatchAddress,
    @Acting() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const target = { tenant: tenantOf(application), id, ifMatch, actor };
    answer(response, await this.members.patch(target, (record) => mergeAddress(record, body)));
  }

  @Get(':memberid')
  @DocumentedRead()
  async getMember(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Res() response: Response,
  ): Promise<void> {
    answer(response, await this.members.read(tenantOf(application), id));
  }
}

function tenantOf({ organizationid, appid }: Application): Tenant {
  return { organizationid, appid };
}

function answer(response: Response, member: StoredMember): void {
  tag(response, member.etag);
  sendJson(response, member.itemText());
}
