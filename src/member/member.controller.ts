import { Body, Controller, Get, Headers, Param, Patch, Post, Res, UseInterceptors } from '@nestjs/common';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../application/index.js';
import { Caller, type Credential, Needs } from '../auth/index.js';
import type { Tenant } from '../record/index.js';
import { BodyPipe } from './body/body.pipe.js';
import { JsonBody } from './body/json-body.interceptor.js';
import { CreateMember } from './dto/create-member.js';
import { PatchAddress } from './dto/patch-address.js';
import { PatchMember } from './dto/patch-member.js';
import { DocumentedCreate, DocumentedMembers, DocumentedPatch, DocumentedRead } from './member.docs.js';
import { MemberService } from './member.service.js';
import { mergeAddress } from './merge/merge-address.js';
import { mergeMember } from './merge/merge-member.js';
import type { StoredMember } from './stored-member.js';

/** The write endpoints (contract §2). */
@DocumentedMembers()
@Controller(':org/:app/api/v0.1/member')
export class MemberController {
  constructor(private readonly members: MemberService) {}

  @Post()
  @Needs('write')
  @UseInterceptors(JsonBody)
  @DocumentedCreate()
  async create(
    @CurrentApplication() application: Application,
    @Caller() caller: Credential,
    @Body(BodyPipe) body: CreateMember,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const tenant = tenantOf(application);
    const { id, member } = await this.members.create(tenant, { body, createdBy: caller.username });
    response.setHeader('Location', `/${tenant.organizationid}/${tenant.appid}/api/v0.1/member/${id}`);
    return answer(response, member);
  }

  @Patch(':memberid')
  @Needs('write')
  @UseInterceptors(JsonBody)
  @DocumentedPatch('Changes a member')
  async patch(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body(BodyPipe) body: PatchMember,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const target = { tenant: tenantOf(application), id, ifMatch };
    return answer(response, await this.members.patch(target, (record) => mergeMember(record, body)));
  }

  @Patch(':memberid/address')
  @Needs('write')
  @UseInterceptors(JsonBody)
  @DocumentedPatch('Changes the address of a member')
  async patchAddress(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body(BodyPipe) body: PatchAddress,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const target = { tenant: tenantOf(application), id, ifMatch };
    return answer(response, await this.members.patch(target, (record) => mergeAddress(record, body)));
  }

  @Get(':memberid')
  @DocumentedRead()
  async read(
    @CurrentApplication() application: Application,
    @Param('memberid') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return answer(response, await this.members.read(tenantOf(application), id));
  }
}

function tenantOf({ organizationid, appid }: Application): Tenant {
  return { organizationid, appid };
}

/** Express turns a matching `If-None-Match` of a GET into 304 by itself. */
function answer(response: Response, member: StoredMember): string {
  response.setHeader('ETag', member.etag).type('json');
  return member.itemText();
}
