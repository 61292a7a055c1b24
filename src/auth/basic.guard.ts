import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { problems, takeConnection, whileProving } from '../http/index.js';
import { Authenticator } from './authenticator.js';
import { parseBasicHeader } from './basic-header.js';
import type { BasicOptions } from './basic.strategy.js';
import { CredentialUses } from './credential-uses.js';
import { accessOf, actorOf, callerOf } from './decorators.js';
import { LoginLimiter } from './login-limiter.js';

/** 401 unless the route says @Public, a session has let the caller in, or the login is right. */
@Injectable()
export class BasicGuard extends AuthGuard('basic') {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: LoginLimiter,
    private readonly uses: CredentialUses,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context).isPublic) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.user === undefined) await whileProving(request, async () => super.canActivate(context));
    const actor = actorOf(request);
    takeConnection(request, http.getResponse(), (actor ?? callerOf(request)).username);
    if (actor !== undefined) return true;
    const { username } = callerOf(request);
    this.limiter.countRequest(username);
    this.uses.note(username, () => request.ip ?? '');
    return true;
  }

  override getAuthenticateOptions(): BasicOptions {
    return { authenticator: this.authenticator };
  }

  override handleRequest<User>(
    error: Error | null,
    user: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error !== null) throw error;
    const { headers } = context.switchToHttp().getRequest<Request>();
    if (user === false)
      throw problems.unauthorized({ wereSent: parseBasicHeader(headers.authorization) !== undefined });
    return user;
  }
}
