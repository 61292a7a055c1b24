import { Controller, Delete, Get, Headers, HttpCode, Inject, Param, Post, Put, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  DEFAULT_SERVICE,
  isEnabled,
  NamesApplication,
  type ServiceKey,
  type StoredService,
} from '../../application/index.js';
import { Caller, type Credential } from '../../auth/index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import { Problems, sendJson, type Shaped, DocumentedBody } from '../../platform/http/index.js';
import { isKind } from '../../kinds/index.js';
import { ReadSlots, sampleTurn } from '../../replication/feed/index.js';
import { Schemas, type ServiceSchema, serviceSchema } from '../../replication/schema/index.js';
import { ofTenant } from '../../record/index.js';
import {
  assertApplication,
  assertCovers,
  editedVersion,
  filterJson,
  invalidParameter,
  listServices,
  nameOfService,
  nothingKnown,
  type Preview,
  PREVIEW,
  previewFilter,
  readService,
  removeService,
  SERVICE_SETTING,
  setNameFault,
  setService,
  unknownService,
  versionInForce,
} from '../index.js';
import {
  Administrative,
  Asked,
  Body,
  ChangeContexts,
  listText,
  NamesKind,
  NamesService,
  sendTagged,
  TakesIfMatch,
  EditLimiter,
  ListingLimiter,
  TrialLimiter,
  untilGone,
} from './administration.js';
import { Answers, Done, PREVIEW_ANSWER, ServiceList, ServiceShape, UnchangedIfTagged } from './answers.js';

/**
 * Time limit of the exact counts, and again of the estimate that follows, in ms. Both must finish before the answer is due.
 */
const PREVIEW_MS = 3300;

interface ServicePath {
  org: string;
  app: string;
  kind: string;
  name: string;
}

/** Services of an application: named filters, and the fields that they show. */
@Administrative()
@NamesApplication()
@Controller('admin/v1/applications/:org/:app')
export class ServicesController {
  constructor(
    private readonly changeContexts: ChangeContexts,
    private readonly previews: TrialLimiter,
    private readonly listings: ListingLimiter,
    private readonly pace: EditLimiter,
    private readonly schemas: Schemas,
    private readonly slots: ReadSlots,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Get('services')
  @ApiOperation({ summary: 'Lists the services of an application' })
  @Answers('The services', ServiceList)
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async listServices(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() { org: organizationid, app: appid }: ServicePath,
    @Res() response: Response,
  ): Promise<void> {
    const tenant = { organizationid, appid };
    assertCovers(caller, tenant);
    const { db } = this.changeContexts.of(request);
    await assertApplication(db, tenant);
    const list = () => listServices(db, { which: ofTenant(tenant) });
    const { services, leftOut } = await this.listings.during(request, caller, list);
    const [beyond] = leftOut;
    const more = beyond === undefined ? '' : `,"leftOut":${beyond.services}`;
    sendJson(response, `{"result":${await listText(services, shown)}${more}}`);
  }

  @Get('services/:kind/:name')
  @NamesKind
  @NamesService
  @ApiOperation({ summary: 'Shows a service' })
  @Answers('The service', ServiceShape)
  @UnchangedIfTagged('service')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getService(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ServicePath,
    @Res() response: Response,
  ): Promise<void> {
    await this.answer(request, response, keyIn(caller, path));
  }

  @Get('services/:kind/:name/schema')
  @NamesKind
  @NamesService
  @ApiOperation({
    summary: 'Shows the schema of the items of a service, with its last changes',
    description: 'The answer of `schema` of the service, without examples.',
  })
  @ApiOkResponse({ description: 'The schema', schema: { type: 'object', additionalProperties: true } })
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getServiceSchema(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ServicePath,
  ): Promise<ServiceSchema> {
    const key = keyIn(caller, path);
    await assertApplication(this.changeContexts.of(request).db, key);
    const reader = { owner: caller.username, gone: untilGone(request) };
    const current = await this.schemas.current(key, sampleTurn(this.slots, reader));
    if (current === undefined) throw unknownService(nameOfService(key));
    return serviceSchema(current);
  }

  @Put('services/:kind/:name')
  @NamesKind
  @NamesService
  @TakesIfMatch
  @ApiHeader({ name: 'If-None-Match', required: false, description: '`*`: the service must not exist yet' })
  @DocumentedBody(SERVICE_SETTING)
  @ApiOperation({
    summary: 'Registers a service, or changes it',
    description:
      'With `If-None-Match: *` an existing one is a conflict. The filter is extended JSON. Omitted properties stay as they are stored; null removes `fields`, `hash`, `allowHiddenFilter` and `schemaExamples`.',
  })
  @Answers('The service', ServiceShape)
  @Problems(400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503)
  async putService(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ServicePath,
    @Headers() headers: Record<string, string | undefined>,
    @Body(SERVICE_SETTING) body: Shaped<typeof SERVICE_SETTING>,
    @Res() response: Response,
  ): Promise<void> {
    const key = keyIn(caller, path);
    const fault = setNameFault(key.name, body);
    if (fault !== undefined) throw invalidParameter('name', `The name of the service ${fault}`);
    const changeContext = this.changeContexts.of(request);
    await assertApplication(changeContext.db, key);
    this.pace.count(key);
    const isNew = headers['if-none-match']?.trim() === '*';
    await setService(changeContext, key, body, { ifMatch: headers['if-match'], isNew });
    await this.answer(request, response, key);
  }

  @Delete('services/:kind/:name')
  @NamesKind
  @NamesService
  @TakesIfMatch
  @HttpCode(204)
  @ApiOperation({ summary: 'Removes a service' })
  @Done
  @Problems(400, 401, 403, 404, 412, 429, 500, 503)
  async deleteService(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ServicePath,
    @Headers('If-Match') ifMatch: string | undefined,
  ): Promise<void> {
    const key = keyIn(caller, path);
    this.pace.count(key);
    await removeService(this.changeContexts.of(request), key, ifMatch);
  }

  @Post('preview/:kind')
  @NamesKind
  @HttpCode(200)
  @DocumentedBody(PREVIEW)
  @ApiOperation({
    summary: 'Shows the effect of a filter before it is saved',
    description:
      'With the `name` of a service, the answer also counts the records that would enter or leave it, and those that would show other fields. Omitted properties are those of that service.',
  })
  @ApiOkResponse({ schema: PREVIEW_ANSWER })
  @Problems(400, 401, 403, 404, 413, 415, 429, 500, 503)
  async previewFilter(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ServicePath,
    @Body(PREVIEW) { name, ...edit }: Shaped<typeof PREVIEW>,
  ): Promise<Preview> {
    const key = keyIn(caller, { ...path, name: name ?? '' });
    const { db } = this.changeContexts.of(request);
    await assertApplication(db, key);
    const wanted = await editedVersion(db, { ...key, name }, edit);
    const inForce = name === undefined ? undefined : await versionInForce(db, key);
    const maxTimeMS = Math.min(this.settings.queryMs, PREVIEW_MS);
    const made = await this.previews.during(key.organizationid, untilGone(request), (signal) =>
      previewFilter(db, key, wanted, { inForce, maxTimeMS, signal }),
    );
    return made ?? nothingKnown(inForce);
  }

  private async answer(request: Request, response: Response, key: ServiceKey): Promise<void> {
    const { document, etag } = await readService(this.changeContexts.of(request).db, key);
    sendTagged(response, shown(document), etag);
  }
}

function keyIn(caller: Credential, { org: organizationid, app: appid, kind, name }: ServicePath): ServiceKey {
  assertCovers(caller, { organizationid, appid });
  const key = { organizationid, appid, kind, name };
  if (!isKind(kind)) throw unknownService(nameOfService(key));
  return key;
}

function shown(service: StoredService): Record<string, unknown> {
  const { organizationid, appid, kind, name, filter, description } = service;
  const { fields, hash, allowHiddenFilter, schemaExamples } = service;
  const whole = name === DEFAULT_SERVICE ? {} : filter;
  return {
    ...{ organizationid, appid, kind, name, filter: filterJson(whole), description },
    enabled: isEnabled(service),
    ...Object.fromEntries(
      Object.entries({ fields, hash, allowHiddenFilter, schemaExamples })
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([property, value]) => [property, filterJson(value)]),
    ),
  };
}
