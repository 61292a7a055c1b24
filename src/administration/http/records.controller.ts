import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Request } from 'express';
import { NamesApplication } from '../../application/index.js';
import { Caller, type Credential } from '../../auth/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { Problems } from '../../http/index.js';
import { KINDS, type Kind, type Tenant } from '../../record/index.js';
import {
  assertApplication,
  assertCovers,
  type Desk,
  invalid,
  recordHistory,
  type RecordHistory,
  recordStory,
  type RecordStory,
} from '../index.js';
import { Administrative, Asked, Desks, NamesKind, NamesRecord } from './administration.js';
import { Answers } from './answers.js';

type RecordNames = Record<'org' | 'app' | 'kind' | 'id', string>;

/** Why a record is where it is, and why consumers received it again. */
@Administrative()
@NamesApplication()
@Controller('admin/v1/applications/:org/:app/records')
export class RecordsController {
  private readonly keptDays: number;

  constructor(
    private readonly desks: Desks,
    @Inject(SETTINGS) { restampHistoryDays }: Settings,
  ) {
    this.keptDays = restampHistoryDays;
  }

  @Get(':kind/:id')
  @NamesKind
  @NamesRecord
  @ApiOperation({
    summary: 'Shows what is known under an id',
    description: 'Whether it is alive or gone and since when, the record, and which services match it now.',
  })
  @Answers('What is known')
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
    summary: 'Shows when and why a record was stamped anew',
    description:
      'The newest 100 re-stamps of the record that stands under an id now, and of its hard delete, newest first, as far as ' +
      'RESTAMP_HISTORY_DAYS goes.',
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

  /** Throws 404 where the caller does not cover the application, or it does not exist. */
  private async covered(
    request: Request,
    caller: Credential,
    { org: organizationid, app: appid, kind }: RecordNames,
  ): Promise<Pick<Desk, 'db' | 'turn'> & { of: Tenant & { kind: Kind } }> {
    const tenant = { organizationid, appid };
    assertCovers(caller, tenant);
    if (!KINDS.includes(kind as Kind)) throw invalid('The kind is not known. It is member or product.');
    const desk = this.desks.of(request);
    await assertApplication(desk.db, tenant);
    return { ...desk, of: { ...tenant, kind: kind as Kind } };
  }
}
