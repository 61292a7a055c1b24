import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Controller, Get, Query, Inject, Param } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiOperation } from '@nestjs/swagger';
import type { Connection } from 'mongoose';
import type { Request } from 'express';
import { Caller, covers, type Credential } from '../../auth/index.js';
import { Problems, readParameters } from '../../platform/http/index.js';
import { Metrics } from '../../platform/observability/index.js';
import type { Tenant } from '../../record/index.js';
import { isKindOf, kindNames } from '../../kinds/index.js';
import { type ConsumerReport, reportConsumers } from '../../replication/feed/index.js';
import { readTrail, type TrailEntry } from '../../trail/index.js';
import {
  assertCoversAll,
  type Figures,
  organizationsOf,
  organizationsTouched,
  readFigures,
  type Status,
  statusOf,
  assertApplication,
  assertCovers,
  type ChangeContext,
  invalidParameter,
  recordHistory,
  type RecordHistory,
  recordStory,
  type RecordStory,
} from '../index.js';
import { Administrative, Asked, ChangeContexts, NamesKind, NamesRecord } from './administration.js';
import { Answers } from './answers.js';
import { pageIn, pageOf, TakesPage } from './listing.js';
import { NamesApplication } from '../../application/index.js';
import { type Build, SETTINGS, type Settings, thisBuild } from '../../platform/config/index.js';

const TRAIL_PAGE = { most: 1000, usual: 100 };

/** The state of the service and of its consumers, and the audit trail. */
@Administrative()
@Controller('admin/v1')
export class OverviewController {
  private readonly instance = `${hostname()}/${randomUUID().slice(0, 8)}`;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
  ) {}

  @Get('status')
  @ApiOperation({
    summary: 'Shows the database, its indexes, the watcher and its counters',
    description: 'Requires a credential whose scopes cover everything.',
  })
  @Answers('The status of the service')
  @Problems(401, 403, 429, 500, 503)
  async getStatus(@Caller() caller: Credential): Promise<Build & Status> {
    assertCoversAll(caller);
    return { ...thisBuild(), ...(await statusOf(this.connection)) };
  }

  @Get('figures')
  @ApiOperation({
    summary: 'Shows current counts and gauges',
    description: 'Requires a credential whose scopes cover everything.',
  })
  @Answers('The figures')
  @Problems(401, 403, 429, 500, 503)
  async getFigures(@Caller() caller: Credential): Promise<Figures> {
    assertCoversAll(caller);
    return readFigures(this.connection, this.metrics, this.instance);
  }

  @Get('consumers')
  @ApiOperation({
    summary: 'Shows the state of each consumer of your applications, the one furthest behind first',
    description:
      'A call is visible within ten seconds. A consumer is removed half a year after its last call.',
  })
  @Answers('The consumers')
  @Problems(401, 403, 429, 500, 503)
  async listConsumers(@Caller() caller: Credential): Promise<{ result: ConsumerReport[] }> {
    const wanted = {
      organizationids: organizationsTouched(caller),
      covers: ({ organizationid, appid }: Tenant) => covers(caller.scopes, organizationid, appid),
    };
    return { result: await reportConsumers(this.connection.db!, wanted) };
  }

  @Get('audittrail')
  @TakesPage(TRAIL_PAGE)
  @ApiOperation({
    summary: 'Shows changes and their authors, newest first',
    description: 'Contains the changes in the organizations that the credential covers as a whole.',
  })
  @Answers('A page of the audit trail')
  @Problems(400, 401, 403, 429, 500, 503)
  async listAuditTrail(
    @Caller() caller: Credential,
    @Query() query: Record<string, unknown>,
  ): Promise<{ result: TrailEntry[]; next: string }> {
    const { before, limit } = readParameters(query, (read) => pageIn(read, TRAIL_PAGE));
    const organizationids = organizationsOf(caller);
    const read = await readTrail(this.connection.db!, { organizationids, before, limit: limit + 1 });
    return pageOf(read, limit, ({ _id }) => String(_id));
  }
}

type RecordNames = Record<'org' | 'app' | 'kind' | 'id', string>;

/** Explains the state of a record, and why consumers received it again. */
@Administrative()
@NamesApplication()
@Controller('admin/v1/applications/:org/:app/records')
export class RecordsController {
  private readonly keptDays: number;

  constructor(
    private readonly changeContexts: ChangeContexts,
    @Inject(SETTINGS) { restampHistoryDays }: Settings,
  ) {
    this.keptDays = restampHistoryDays;
  }

  @Get(':kind/:id')
  @NamesKind
  @NamesRecord
  @ApiOperation({
    summary: 'Shows the state of an id',
    description:
      'The answer says whether the record is alive or gone, and since when. It has the record, and the services that match it now.',
  })
  @Answers('The state of the id')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getRecord(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() names: RecordNames,
  ): Promise<RecordStory> {
    const { db, of, turn } = await this.covered(request, caller, names);
    return recordStory(db, of, names.id, turn);
  }

  @Get(':kind/:id/history')
  @NamesKind
  @NamesRecord
  @ApiOperation({
    summary: 'Shows when and why a record was re-stamped',
    description:
      'The newest 100 re-stamps of the record that has the id now, and of its hard delete, newest first. They are kept for ' +
      'RESTAMP_HISTORY_DAYS days.',
  })
  @Answers('The re-stamps')
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getRecordHistory(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() names: RecordNames,
  ): Promise<RecordHistory> {
    const { db, of } = await this.covered(request, caller, names);
    return recordHistory(db, of, names.id, this.keptDays);
  }

  /**
   * Throws 404 if the caller does not cover the application or if the application does not exist, 400 if it cannot have
   * records of the kind.
   */
  private async covered(
    request: Request,
    caller: Credential,
    { org: organizationid, app: appid, kind }: RecordNames,
  ): Promise<Pick<ChangeContext, 'db' | 'turn'> & { of: Tenant & { kind: string } }> {
    const tenant = { organizationid, appid };
    assertCovers(caller, tenant);
    if (!isKindOf(kind, tenant)) {
      const known = kindNames().filter((one) => isKindOf(one, tenant));
      throw invalidParameter('kind', `The kind is not known. It is ${known.join(' or ')}.`);
    }
    const changeContext = this.changeContexts.of(request);
    await assertApplication(changeContext.db, tenant);
    return { ...changeContext, of: { ...tenant, kind } };
  }
}
