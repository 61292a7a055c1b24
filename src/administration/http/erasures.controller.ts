import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { NamesApplication } from '../../application/index.js';
import { Caller, type Credential } from '../../auth/index.js';
import { forAtMost } from '../../platform/common/index.js';
import { DocumentedBody, Problems, readParameters, type Shaped } from '../../platform/http/index.js';
import type { Tenant } from '../../record/index.js';
import {
  assertApplication,
  assertCovers,
  ERASURE,
  erase,
  type ErasureReceipt,
  listReceipts,
  readReceipt,
  type WholeReceipt,
} from '../index.js';
import { Administrative, Asked, Body, ChangeContexts } from './administration.js';
import { Answers } from './answers.js';
import { pageIn, pageOf, TakesPage } from './listing.js';

/**
 * How long a request waits for the watcher, in ms: less than the time limit of an answer. If the erasure is not
 * complete by then, the client has to request it again.
 */
const WAIT_MS = 6000;
const NEVER = new AbortController().signal;
const PAGE = { most: 100, usual: 20 };

type ErasurePath = Record<'org' | 'app', string>;

/** Erasures of records, and their current states. */
@Administrative()
@NamesApplication()
@Controller('admin/v1/applications/:org/:app/erasures')
export class ErasuresController {
  constructor(private readonly changeContexts: ChangeContexts) {}

  @Post()
  @ApiOperation({
    summary: 'Erases a record: deletes it with every trace, apart from its hard delete',
    description:
      'Waits some seconds for the watcher. A record that is already gone is cleaned up in the same way. The `id` is in the ' +
      'body, so that it does not appear in access logs.',
  })
  @DocumentedBody(ERASURE)
  @Answers('The receipt, with the consumers', undefined, 201)
  @Problems(400, 401, 403, 404, 413, 415, 429, 500, 503)
  async createErasure(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ErasurePath,
    @Body(ERASURE) { kind, id }: Shaped<typeof ERASURE>,
  ): Promise<WholeReceipt> {
    const tenant = tenantOf(caller, path);
    const changeContext = this.changeContexts.of(request);
    const receipt = await forAtMost(WAIT_MS, NEVER, (over) =>
      erase(changeContext, { tenant, kind, id }, over),
    );
    return readReceipt(changeContext.db, tenant, receipt.toHexString());
  }

  @Get()
  @ApiQuery({
    name: 'id',
    required: false,
    description: 'Only the erasures of this `id`',
    schema: { type: 'string' },
  })
  @TakesPage(PAGE)
  @ApiOperation({
    summary: 'Lists the erasures of an application, the newest first',
    description:
      'Erasures are listed for AUDIT_TRAIL_DAYS days. Their states are computed when they are read.',
  })
  @Answers('A page of the erasures')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async listErasures(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() path: ErasurePath,
    @Query() query: Record<string, unknown>,
  ): Promise<{ result: ErasureReceipt[]; next: string }> {
    const tenant = tenantOf(caller, path);
    const { db } = this.changeContexts.of(request);
    await assertApplication(db, tenant);
    const page = readParameters(query, (read) => ({
      ...pageIn(read, PAGE),
      id: read('id', (text) => ({ value: text })),
    }));
    const read = await listReceipts(db, tenant, { ...page, limit: page.limit + 1 });
    return pageOf(read, page.limit, ({ receipt }) => receipt);
  }

  @Get(':receipt')
  @ApiParam({
    name: 'receipt',
    description: 'The `receipt` of the erasure',
    schema: { type: 'string', minLength: 1, example: '6740a1b2c3d4e5f601234567' },
  })
  @ApiOperation({
    summary: 'Shows an erasure, and which consumers have received it',
    description:
      'The consumers are sorted by progress, the least advanced first. Their activity is visible within ten seconds.',
  })
  @Answers('The receipt, with the consumers')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getErasure(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() { receipt, ...path }: ErasurePath & { receipt: string },
  ): Promise<WholeReceipt> {
    const tenant = tenantOf(caller, path);
    const { db } = this.changeContexts.of(request);
    await assertApplication(db, tenant);
    return readReceipt(db, tenant, receipt);
  }
}

function tenantOf(caller: Credential, { org: organizationid, app: appid }: ErasurePath): Tenant {
  assertCovers(caller, { organizationid, appid });
  return { organizationid, appid };
}
