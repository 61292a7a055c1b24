import { Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Caller, type Credential, credentialState } from '../../auth/index.js';
import type { Parsed } from '../../platform/common/index.js';
import {
  allows,
  Problems,
  readParameters,
  sendJson,
  type Shaped,
  DocumentedBody,
  DocumentedOptionalBody,
} from '../../platform/http/index.js';
import {
  assertGives,
  changeCredential,
  coversCredential,
  CREDENTIAL_CHANGE,
  isPast,
  issueCredential,
  type LastUse,
  lastUses,
  listCredentials,
  type ListedCredential,
  NEW_CREDENTIAL,
  organizationsTouched,
  randomPassword,
  readCredential,
  Refused,
  repeated,
  retireOldPassword,
  revokeCredential,
  rotateCredential,
  ROTATION,
  type TaggedDocument,
  unknownCredential,
  unusedCredentials,
} from '../index.js';
import {
  Administrative,
  Asked,
  Body,
  ChangeContexts,
  listText,
  NamesCredential,
  OptionalBody,
  sendWithState,
  TakesIfMatch,
} from './administration.js';
import { Answers, CredentialList, CredentialShape, Done } from './answers.js';

const NOT_KNOWN: LastUse = { lastUsed: null, lastUsedFrom: null };
const DAYS = /^[1-9]\d{0,3}$/;

/** A request to change a credential, and the `If-Match` of the client. */
interface CredentialRequest {
  request: Request;
  caller: Credential;
  username: string;
  ifMatch: string | undefined;
}

/** Credentials whose scopes the caller covers. A password occurs only in the answer to the request that creates it. */
@Administrative()
@Controller('admin/v1/credentials')
export class CredentialsController {
  constructor(private readonly changeContexts: ChangeContexts) {}

  @Get()
  @ApiQuery({
    name: 'unusedfor',
    required: false,
    description: 'Only the credentials that have been unused for this many days',
    schema: { type: 'integer', minimum: 1, maximum: 9999, example: 90 },
  })
  @ApiOperation({
    summary: 'Lists the credentials whose access is within yours',
    description: 'Includes when, to the minute, and from where each was last used.',
  })
  @Answers('The credentials', CredentialList)
  @Problems(400, 401, 403, 429, 500, 503)
  async listCredentials(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Query() query: Record<string, unknown>,
    @Res() response: Response,
  ): Promise<void> {
    const { db } = this.changeContexts.of(request);
    const of = organizationsTouched(caller);
    const days = readParameters(query, (read) => read('unusedfor', parseDays));
    const { since: usesSince, credentials } =
      days === undefined
        ? { since: undefined, credentials: await listCredentials(db, of) }
        : await unusedCredentials(db, days, of);
    const seen = credentials.filter((one) => coversCredential(caller, one));
    const useOf = await lastUses(
      db,
      seen.map(({ username }) => username),
    );
    const result = await listText(seen, (one) => shown(one, useOf(one.username)));
    const since = usesSince === undefined ? '' : `,"usesSince":${JSON.stringify(usesSince)}`;
    sendJson(response, `{"result":${result}${since}}`);
  }

  @Post()
  @DocumentedBody(NEW_CREDENTIAL)
  @ApiOperation({
    summary: 'Creates a credential',
    description: 'The response contains its password, which is not shown again.',
  })
  @Answers('The new credential, with its password', CredentialShape, 201)
  @Problems(400, 401, 403, 409, 413, 415, 429, 500, 503)
  async createCredential(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Body(NEW_CREDENTIAL) body: Shaped<typeof NEW_CREDENTIAL>,
    @Res() response: Response,
  ): Promise<void> {
    assertGives(caller, body.scopes);
    assertFuture(body.expiresAt);
    const password = randomPassword();
    const issued = await issueCredential(this.changeContexts.of(request), body, password, (stored) =>
      coversCredential(caller, stored),
    );
    const path = `credentials/${encodeURIComponent(body.username)}`;
    response.status(201).setHeader('Location', path);
    await this.answerPassword(request, response, issued, password);
  }

  @Get(':username')
  @NamesCredential
  @ApiOperation({ summary: 'Shows a credential' })
  @Answers('The credential', CredentialShape)
  @Problems(400, 401, 403, 404, 429, 500, 503)
  async getCredential(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.assertSeen(request, caller, username);
    await this.answer(request, response, username);
  }

  @Patch(':username')
  @NamesCredential
  @TakesIfMatch
  @DocumentedBody(CREDENTIAL_CHANGE)
  @ApiOperation({ summary: 'Changes the level, expiration or state of a credential' })
  @Answers('The credential', CredentialShape)
  @Problems(400, 401, 403, 404, 412, 413, 415, 429, 500, 503)
  async patchCredential(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('If-Match') ifMatch: string | undefined,
    @Body(CREDENTIAL_CHANGE) body: Shaped<typeof CREDENTIAL_CHANGE>,
    @Res() response: Response,
  ): Promise<void> {
    await this.changed({ request, caller, username, ifMatch }, (etag) => {
      assertFuture(body.expiresAt);
      return changeCredential(this.changeContexts.of(request), username, body, etag);
    });
    await this.answer(request, response, username);
  }

  @Post(':username/rotate')
  @NamesCredential
  @TakesIfMatch
  @HttpCode(200)
  @DocumentedOptionalBody(ROTATION)
  @ApiOperation({
    summary: 'Sets a new password for a credential',
    description:
      'The response contains the new password, which is not shown again. The previous password is valid until `keepOldUntil`; without it, every instance rejects it within 2 seconds.',
  })
  @Answers('The credential, with its new password', CredentialShape)
  @Problems(400, 401, 403, 404, 412, 413, 415, 429, 500, 503)
  async rotateCredential(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('If-Match') ifMatch: string | undefined,
    @OptionalBody(ROTATION) { keepOldUntil }: Shaped<typeof ROTATION>,
    @Res() response: Response,
  ): Promise<void> {
    const password = randomPassword();
    const rotated = await this.changed({ request, caller, username, ifMatch }, (etag) =>
      rotateCredential(this.changeContexts.of(request), username, password, { keepOldUntil, ifMatch: etag }),
    );
    await this.answerPassword(request, response, rotated, password);
  }

  @Delete(':username/oldpassword')
  @NamesCredential
  @TakesIfMatch
  @HttpCode(204)
  @ApiOperation({ summary: 'Invalidates the previous password of a credential' })
  @Done
  @Problems(400, 401, 403, 404, 412, 429, 500, 503)
  async deleteOldPassword(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('If-Match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.changed({ request, caller, username, ifMatch }, (etag) =>
      retireOldPassword(this.changeContexts.of(request), username, etag),
    );
  }

  @Delete(':username')
  @NamesCredential
  @TakesIfMatch
  @HttpCode(204)
  @ApiOperation({ summary: 'Removes a credential' })
  @Done
  @Problems(400, 401, 403, 404, 412, 429, 500, 503)
  async deleteCredential(
    @Asked() request: Request,
    @Caller() caller: Credential,
    @Param('username') username: string,
    @Headers('If-Match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.changed({ request, caller, username, ifMatch }, (etag) =>
      revokeCredential(this.changeContexts.of(request), username, etag),
    );
  }

  /**
   * Changes the version of a credential whose scopes were checked. Both are repeated if the credential has changed in between:
   * 412 is for a tag that the client has sent. Throws 503 if others were faster all the time.
   */
  private async changed<T>(
    { request, caller, username, ifMatch }: CredentialRequest,
    change: (etag: string) => Promise<T>,
  ): Promise<T> {
    const { result } = await repeated(async () => {
      const etag = await this.assertSeen(request, caller, username);
      const isAllowed = allows(ifMatch, etag);
      try {
        return { result: await change(isAllowed ? etag : ifMatch!) };
      } catch (error) {
        if (!isAllowed || !isStale(error)) throw error;
        return undefined;
      }
    });
    return result;
  }

  /**
   * Throws 404 if the caller does not cover the credential. Returns its entity tag, so that the change applies to the
   * version checked here.
   */
  private async assertSeen(request: Request, caller: Credential, username: string): Promise<string> {
    const { document, etag } = await readCredential(this.changeContexts.of(request).db, username);
    if (!coversCredential(caller, document)) throw unknownCredential(username);
    return etag;
  }

  private async answer(request: Request, response: Response, username: string): Promise<void> {
    const { db } = this.changeContexts.of(request);
    const { document, etag } = await readCredential(db, username);
    const useOf = await lastUses(db, [username]);
    sendWithState(response, shown(document, useOf(username)), etag);
  }

  /** The password is in force and is not shown again, so it is shown even if the last use cannot be read. */
  private async answerPassword(
    request: Request,
    response: Response,
    { document, etag }: TaggedDocument,
    password: string,
  ): Promise<void> {
    const { username } = document as ListedCredential;
    const useOf = await lastUses(this.changeContexts.of(request).db, [username]).catch(() => () => NOT_KNOWN);
    sendWithState(response, { ...shown(document, useOf(username)), password }, etag);
  }
}

function isStale(error: unknown): boolean {
  return error instanceof Refused && error.problem.status === 412;
}

function shown(credential: ListedCredential, use: LastUse): Record<string, unknown> {
  const { username, level, scopes, disabled, expiresAt, oldexpiresAt } = credential;
  const state = credentialState(credential, new Date());
  return { username, level, scopes, disabled, expiresAt, oldexpiresAt, state, ...use };
}

function assertFuture(expiresAt: Date | null | undefined): void {
  if (expiresAt && expiresAt <= new Date()) throw isPast('expiresAt');
}

function parseDays(text: string): Parsed<number> {
  return DAYS.test(text) ? { value: Number(text) } : { error: 'is not a whole number of days, such as 90.' };
}
