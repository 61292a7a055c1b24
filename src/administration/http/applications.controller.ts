import { Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NamesApplication } from '../../application/index.js';
import { Caller, covers, type Credential } from '../../auth/index.js';
import { textOf } from '../../platform/common/index.js';
import { Problems, sendJson, type Shaped, DocumentedBody } from '../../platform/http/index.js';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import {
  APPLICATION_CHANGE,
  assertCovers,
  changeApplication,
  rekeyApplication,
  createApplication,
  listApplications,
  NEW_APPLICATION,
  organizationsTouched,
  readApplication,
  removeApplication,
  type StoredApplication,
} from '../index.js';
import {
  Administrative,
  Asked,
  Body,
  ChangeContexts,
  EditLimiter,
  listText,
  sendTagged,
  TakesIfMatch,
} from './administration.js';
import { readPurge } from './listing.js';
import { Answers, ApplicationList, ApplicationShape, Done, UnchangedIfTagged } from './answers.js';

/** Lists, registers, changes and removes applications. */
@Administrative()
@Controller('admin/v1/applications')
export class ApplicationsController {
  constructor(
    private readonly changeContexts: ChangeContexts,
    private readonly pace: EditLimiter,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the applications that the credential covers' })
  @Answers('The applications', ApplicationList)
  @Problems(401, 403, 429, 500, 503)
  async listApplications(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Res() response: Response,
  ): Promise<void> {
    const all = await listApplications(this.changeContexts.of(request).db, organizationsTouched(caller));
    const covered = all.filter(({ organizationid, appid }) =>
      covers(caller.scopes, textOf(organizationid), textOf(appid)),
    );
    sendJson(response, `{"result":${await listText(covered, shown)}}`);
  }

  @Post()
  @DocumentedBody(NEW_APPLICATION)
  @ApiOperation({ summary: 'Registers an application' })
  @Answers('The new application', ApplicationShape, 201)
  @Problems(400, 401, 403, 404, 409, 413, 415, 429, 500, 503)
  async createApplication(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Body(NEW_APPLICATION) body: Shaped<typeof NEW_APPLICATION>,
    @Res() response: Response,
  ): Promise<void> {
    const { organizationid, appid, ...change } = body;
    assertCovers(caller, { organizationid, appid });
    await createApplication(this.changeContexts.of(request), { organizationid, appid }, change);
    response.status(201).setHeader('Location', `applications/${organizationid}/${appid}`);
    await this.answer(request, response, { organizationid, appid });
  }

  @Get(':org/:app')
  @NamesApplication()
  @ApiOperation({ summary: 'Shows an application' })
  @Answers('The application', ApplicationShape)
  @UnchangedIfTagged('application')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getApplication(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: { org: string; app: string },
    @Res() response: Response,
  ): Promise<void> {
    await this.answer(request, response, tenantIn(caller, path));
  }

  @Patch(':org/:app')
  @NamesApplication()
  @TakesIfMatch
  @DocumentedBody(APPLICATION_CHANGE)
  @ApiOperation({ summary: 'Changes an application', description: 'null removes what is stored.' })
  @Answers('The application', ApplicationShape)
  @Problems(400, 401, 403, 404, 412, 413, 415, 429, 500, 503)
  async patchApplication(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: { org: string; app: string },
    @Headers('If-Match') ifMatch: string | undefined,
    @Body(APPLICATION_CHANGE) body: Shaped<typeof APPLICATION_CHANGE>,
    @Res() response: Response,
  ): Promise<void> {
    const tenant = tenantIn(caller, path);
    await changeApplication(this.changeContexts.of(request), tenant, body, ifMatch);
    await this.answer(request, response, tenant);
  }

  @Delete(':org/:app')
  @NamesApplication()
  @TakesIfMatch
  @ApiQuery({
    name: 'purge',
    required: false,
    description: '`true` removes its records too',
    schema: { type: 'string' },
  })
  @ApiOperation({ summary: 'Removes an application and its services' })
  @Answers('How many records were removed of each kind')
  @Problems(400, 401, 403, 404, 409, 412, 429, 500, 503)
  async deleteApplication(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: { org: string; app: string },
    @Headers('If-Match') ifMatch: string | undefined,
    @Query() query: Record<string, unknown>,
  ): Promise<{ removed: Record<Kind, number> }> {
    const tenant = tenantIn(caller, path);
    const options = { purge: readPurge(query), ifMatch };
    const removed = await removeApplication(this.changeContexts.of(request), tenant, options);
    return { removed: Object.fromEntries(removed) };
  }

  @Post(':org/:app/hashkey/rotate')
  @NamesApplication()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Replaces the key of the hashes that services of an application show',
    description: 'All hashed values change and are delivered again.',
  })
  @Done
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async rotateHashKey(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: { org: string; app: string },
  ): Promise<void> {
    const tenant = tenantIn(caller, path);
    this.pace.count(tenant);
    await rekeyApplication(this.changeContexts.of(request), tenant);
  }

  private async answer(request: Request, response: Response, tenant: Tenant): Promise<void> {
    const { document, etag } = await readApplication(this.changeContexts.of(request).db, tenant);
    sendTagged(response, shown(document), etag);
  }
}

/** Omits properties that other programs stored as null. */
function shown({ organizationid, appid, title, settings }: StoredApplication): object {
  return { organizationid, appid, title: title ?? undefined, settings: settings ?? undefined };
}

function tenantIn(caller: Credential, { org, app }: { org: string; app: string }): Tenant {
  const tenant = { organizationid: org, appid: app };
  assertCovers(caller, tenant);
  return tenant;
}
