import { Controller, Delete, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller, type Credential } from '../../auth/index.js';
import { Problems, type Shaped, DocumentedBody } from '../../platform/http/index.js';
import {
  assertCoversAll,
  createKind,
  KIND,
  type ListedKind,
  listKinds,
  readKind,
  type RemovedWithKind,
  removeKind,
} from '../index.js';
import {
  Administrative,
  Asked,
  Body,
  ChangeContexts,
  NamesCreatedKind,
  sendWithState,
  TakesIfMatch,
} from './administration.js';
import { readPurge } from './listing.js';
import { Answers, KindList, KindShape } from './answers.js';

const FOR_WHOM =
  'Requires a credential whose scopes cover everything, since a kind concerns all applications.';

/** Kinds of records. A kind concerns all applications, so each route requires a credential whose scopes cover everything. */
@Administrative()
@Controller('admin/v1/kinds')
export class KindsController {
  constructor(private readonly changeContexts: ChangeContexts) {}

  @Get()
  @ApiOperation({ summary: 'Lists the kinds of records', description: FOR_WHOM })
  @Answers('The kinds, those that are built in first', KindList)
  @Problems(401, 403, 429, 500, 503)
  async listKinds(
    @Asked() request: Request,
    @Caller() caller: Credential,
  ): Promise<{ result: ListedKind[] }> {
    assertCoversAll(caller);
    return { result: await listKinds(this.changeContexts.of(request).db) };
  }

  @Post()
  @DocumentedBody(KIND)
  @ApiOperation({
    summary: 'Creates a kind of records',
    description: `Every instance knows it within two seconds. Its feeds answer 503 until the first pass over its records has ended. ${FOR_WHOM}`,
  })
  @Answers('The new kind', KindShape, 201)
  @Problems(400, 401, 403, 409, 413, 415, 429, 500, 503)
  async createKind(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Body(KIND) body: Shaped<typeof KIND>,
    @Res() response: Response,
  ): Promise<void> {
    assertCoversAll(caller);
    await createKind(this.changeContexts.of(request), body);
    response.status(201).setHeader('Location', `kinds/${body.name}`);
    await this.answer(request, response, body.name);
  }

  @Get(':kind')
  @NamesCreatedKind
  @ApiOperation({ summary: 'Shows a kind of records', description: FOR_WHOM })
  @Answers('The kind', KindShape)
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getKind(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('kind') name: string,
    @Res() response: Response,
  ): Promise<void> {
    assertCoversAll(caller);
    await this.answer(request, response, name);
  }

  @Delete(':kind')
  @NamesCreatedKind
  @TakesIfMatch
  @ApiQuery({
    name: 'purge',
    required: false,
    description: '`true` also removes its services and the states of its consumers',
    schema: { type: 'string' },
  })
  @ApiOperation({
    summary: 'Removes a kind of records',
    description: `Its records and its entries in the ledger stay. If the kind is created again, no change is lost, and its records are delivered again. ${FOR_WHOM}`,
  })
  @Answers('How many services and consumers were removed with it')
  @Problems(400, 401, 403, 404, 409, 412, 429, 500, 503)
  async deleteKind(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('kind') name: string,
    @Headers('If-Match') ifMatch: string | undefined,
    @Query() query: Record<string, unknown>,
  ): Promise<{ removed: RemovedWithKind }> {
    assertCoversAll(caller);
    const options = { purge: readPurge(query), ifMatch };
    return { removed: await removeKind(this.changeContexts.of(request), name, options) };
  }

  private async answer(request: Request, response: Response, name: string): Promise<void> {
    const { kind, etag } = await readKind(this.changeContexts.of(request).db, name);
    sendWithState(response, kind, etag);
  }
}
