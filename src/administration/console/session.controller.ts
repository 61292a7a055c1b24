import { Controller, Delete, Get, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Administrative, Answers, Asked, Body, ChangeContexts, Done, ScopeShape } from '../http/index.js';
import { coversAll, recordAction } from '../index.js';
import { thisBuild } from '../../platform/config/pure.js';
import { Authenticator, Caller, covers, type Credential, Public, reaches } from '../../auth/index.js';
import { describedKind, type Kind, kindNames } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import {
  DocumentedBody,
  Problem,
  Problems,
  problems,
  required,
  type Shaped,
  text,
} from '../../platform/http/index.js';
import { setSessionCookie, Sessions, sessionToken, clearSessionCookie } from './sessions.js';

const LOGIN = {
  username: required(text(() => undefined, { example: 'operator' })),
  password: required(text(() => undefined, { example: 'correct horse battery staple' })),
};

interface FixedKind extends Tenant {
  kind: string;
}

interface SignedIn {
  username: string;
  scopes: Credential['scopes'];
  /** Whether the user also sees the status of the service, which concerns every application. */
  coversAll: boolean;
  /** The kinds of records, without those that are fixed to an application that the user's scopes do not cover. */
  kinds: readonly string[];
  /** Those of the kinds that are fixed to one application. */
  fixedKinds: FixedKind[];
  version: string;
}

@ApiSchema({ name: 'FixedKind' })
class FixedKindShape {
  @ApiProperty({ example: 'order' })
  kind: string;

  @ApiProperty({ example: 'acme' })
  organizationid: string;

  @ApiProperty({ example: 'shop' })
  appid: string;
}

@ApiSchema({ name: 'SignedIn' })
class SignedInShape {
  @ApiProperty()
  username: string;

  @ApiProperty({ type: [ScopeShape] })
  scopes: ScopeShape[];

  @ApiProperty()
  coversAll: boolean;

  @ApiProperty({ type: [String] })
  kinds: string[];

  @ApiProperty({
    type: [FixedKindShape],
    description: 'Those of the kinds that are fixed to one application',
  })
  fixedKinds: FixedKindShape[];

  @ApiProperty({ description: 'The version of the service' })
  version: string;
}

/** Signs users in at the console. Their requests then send a cookie instead of a password. */
@Administrative()
@Controller('admin/v1/session')
export class SessionController {
  constructor(
    private readonly sessions: Sessions,
    private readonly authenticator: Authenticator,
    private readonly changeContexts: ChangeContexts,
  ) {}

  @Post()
  @Public()
  @HttpCode(200)
  @DocumentedBody(LOGIN)
  @ApiOperation({ summary: 'Signs in at the console', description: 'For a credential of level `admin`.' })
  @Answers('Who is signed in now', SignedInShape)
  @Problems(400, 401, 403, 413, 415, 429, 500, 503)
  async createSession(
    @Asked() request: Request,
    @Body(LOGIN) login: Shaped<typeof LOGIN>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SignedIn> {
    const proven = await this.authenticator.identify(login, () => request.ip ?? '');
    if (proven === undefined) throw wrongLogin();
    const { credential, passwordhash } = proven;
    if (!reaches(credential.level, 'admin')) throw problems.levelMissing('admin');
    const { token, ends } = await this.sessions.open(credential.username, passwordhash);
    setSessionCookie(request, response, token, ends);
    request.user = credential;
    await recordAction(this.changeContexts.of(request), { action: 'session.open', target: 'console' });
    return signedIn(credential);
  }

  @Get()
  @ApiOperation({ summary: 'Shows who is signed in' })
  @Answers('Who is signed in', SignedInShape)
  @Problems(401, 403, 429, 500, 503)
  getSession(@Caller() caller: Credential): SignedIn {
    return signedIn(caller);
  }

  @Delete()
  @HttpCode(204)
  @ApiOperation({ summary: 'Signs out' })
  @Done
  @Problems(401, 403, 429, 500, 503)
  async deleteSession(
    @Asked() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.sessions.close(sessionToken(request));
    clearSessionCookie(request, response);
  }
}

function signedIn(caller: Credential): SignedIn {
  const { username, scopes } = caller;
  const tenantOf = (kind: Kind) => describedKind(kind).stored?.tenant;
  // A kind that is fixed to an application is listed only if the user's scopes cover that application.
  const kinds = kindNames().filter((kind) => {
    const tenant = tenantOf(kind);
    return tenant === undefined || covers(scopes, tenant.organizationid, tenant.appid);
  });
  const fixedKinds = kinds.flatMap((kind) => {
    const tenant = tenantOf(kind);
    return tenant === undefined ? [] : { kind, organizationid: tenant.organizationid, appid: tenant.appid };
  });
  return { username, scopes, coversAll: coversAll(caller), kinds, fixedKinds, version: thisBuild().version };
}

/** Omits the HTTP Basic challenge, because it would make the browser ask for a password. */
function wrongLogin(): Problem {
  const detail = 'No active credential has this user name and password.';
  return new Problem(401, 'unauthorized', 'Invalid login', detail);
}
