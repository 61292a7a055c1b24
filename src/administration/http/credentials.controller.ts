import { Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller, type Credential, credentialState } from '../../auth/index.js';
import { Problems, sendJson } from '../../http/index.js';
import {
  changeCredential,
  issueCredential,
  listCredentials,
  type ListedCredential,
  randomPassword,
  readCredential,
  revokeCredential,
  rotateCredential,
} from '../credentials.js';
import { invalid, unknownCredential } from '../refused.js';
import { Administrative, Asked, Desks, sendTagged } from './administration.js';
import { CREDENTIAL_CHANGE, NEW_CREDENTIAL } from './bodies.js';
import type { Shaped } from './fields.js';
import { assertGives, coversCredential, organizationsTouched } from './reach.js';
import { Body, DocumentedBody } from './shape.pipe.js';

/** Credentials that open no more than the caller's own. A password is in one answer only: the one that makes it. */
@Administrative()
@Controller('admin/v1/credentials')
export class CredentialsController {
  constructor(private readonly desks: Desks) {}

  @Get()
  @ApiOperation({ summary: 'Lists the credentials that open no more than yours' })
  @Problems(401, 403, 429, 500, 503)
  async list(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Res() response: Response,
  ): Promise<void> {
    const all = await listCredentials(this.desks.of(request).db, organizationsTouched(caller));
    const result = all.filter((one) => coversCredential(caller, one)).map(shown);
    sendJson(response, JSON.stringify({ result }));
  }

  @Post()
  @DocumentedBody(NEW_CREDENTIAL)
  @ApiOperation({ summary: 'Makes a credential', description: 'The answer has its password, this once.' })
  @Problems(400, 401, 403, 409, 413, 415, 429, 500, 503)
  async issue(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Body(NEW_CREDENTIAL) body: Shaped<typeof NEW_CREDENTIAL>,
    @Res() response: Response,
  ): Promise<void> {
    assertGives(caller, body.scopes);
    assertFuture(body.expiresAt);
    const password = randomPassword();
    await issueCredential(this.desks.of(request), body, password);
    const path = `/admin/v1/credentials/${encodeURIComponent(body.username)}`;
    response.status(201).setHeader('Location', path);
    await this.answer(request, response, body.username, { password });
  }

  @Get(':username')
  @ApiOperation({ summary: 'Shows a credential' })
  @Problems(401, 403, 404, 429, 500, 503)
  async read(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.assertSeen(request, caller, username);
    await this.answer(request, response, username);
  }

  @Patch(':username')
  @DocumentedBody(CREDENTIAL_CHANGE)
  @ApiOperation({ summary: 'Changes level, end or state of a credential' })
  @Problems(400, 401, 403, 404, 412, 413, 415, 429, 500, 503)
  async change(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body(CREDENTIAL_CHANGE) body: Shaped<typeof CREDENTIAL_CHANGE>,
    @Res() response: Response,
  ): Promise<void> {
    const etag = await this.assertSeen(request, caller, username);
    assertFuture(body.expiresAt);
    await changeCredential(this.desks.of(request), username, body, ifMatch ?? etag);
    await this.answer(request, response, username);
  }

  @Post(':username/rotate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Gives a credential another password',
    description: 'The answer has it, this once. The old one opens nothing more.',
  })
  @Problems(401, 403, 404, 412, 429, 500, 503)
  async rotate(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const etag = await this.assertSeen(request, caller, username);
    const password = randomPassword();
    await rotateCredential(this.desks.of(request), username, password, ifMatch ?? etag);
    await this.answer(request, response, username, { password });
  }

  @Delete(':username')
  @HttpCode(204)
  @ApiOperation({ summary: 'Removes a credential' })
  @Problems(401, 403, 404, 412, 429, 500, 503)
  async revoke(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    const etag = await this.assertSeen(request, caller, username);
    await revokeCredential(this.desks.of(request), username, ifMatch ?? etag);
  }

  /** Throws 404 where the credential opens more than the caller's. What follows is about the one seen here. */
  private async assertSeen(request: Request, caller: Credential, username: string): Promise<string> {
    const { document, etag } = await readCredential(this.desks.of(request).db, username);
    if (!coversCredential(caller, document)) throw unknownCredential(username);
    return etag;
  }

  private async answer(
    request: Request,
    response: Response,
    username: string,
    more: object = {},
  ): Promise<void> {
    const { document, etag } = await readCredential(this.desks.of(request).db, username);
    sendTagged(response, { ...shown(document), ...more }, etag);
  }
}

function shown(credential: ListedCredential): Record<string, unknown> {
  const { username, level, scopes, disabled, expiresAt } = credential;
  return { username, level, scopes, disabled, expiresAt, state: credentialState(credential, new Date()) };
}

function assertFuture(expiresAt: Date | null | undefined): void {
  if (expiresAt && expiresAt <= new Date()) throw invalid('expiresAt is past already.', '/expiresAt');
}
