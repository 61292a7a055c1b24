import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Request } from 'express';
import { Caller, type Credential } from '../../auth/index.js';
import { Problems } from '../../http/index.js';
import { KINDS, type Kind } from '../../record/index.js';
import { assertApplication } from '../applications.js';
import { recordStory, type RecordStory } from '../record-story.js';
import { invalid } from '../refused.js';
import { Administrative, Asked, Desks } from './administration.js';
import { assertCovers } from './reach.js';

/** Why a record is where it is. */
@Administrative()
@Controller('admin/v1/applications/:org/:app/records')
export class RecordsController {
  constructor(private readonly desks: Desks) {}

  @Get(':kind/:id')
  @ApiOperation({
    summary: 'Shows what is known under an id',
    description: 'Whether it is alive or gone and since when, the record, and which services match it now.',
  })
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async show(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param() { org: organizationid, app: appid, kind, id }: Record<'org' | 'app' | 'kind' | 'id', string>,
  ): Promise<RecordStory> {
    const tenant = { organizationid, appid };
    assertCovers(caller, tenant);
    if (!KINDS.includes(kind as Kind)) throw invalid('The kind is not known. It is member or product.');
    const { db } = this.desks.of(request);
    await assertApplication(db, tenant);
    return recordStory(db, { ...tenant, kind: kind as Kind }, id);
  }
}
