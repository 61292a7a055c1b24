import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { problems, takeConnection, whileProving } from '../http/index.js';
import { Authenticator } from './authenticator.js';
import { CredentialUses } from './credential-uses.js';
import { type Credential, parseBasicHeader, reaches } from './credential.js';
import { accessOf, actorOf, callerOf } from './decorators.js';
import { LoginLimiter } from './login-limiter.js';

/** What the guard hands over: Passport keeps one strategy for all services of a process. */
interface BasicOptions {
  authenticator: Authenticator;
}

/** HTTP Basic. The header is read here: the usual strategy cuts passwords at every colon and refuses empty ones. */
@Injectable()
export class TidemarkBasicStrategy extends PassportStrategy(Strategy, 'basic') {
  override authenticate(request: Request, { authenticator }: BasicOptions): void {
    this.validate(request, authenticator).then(
      (credential) => (credential === undefined ? this.fail(401) : this.success(credential)),
      (error: unknown) => this.error(error),
    );
  }

  async validate(request: Request, authenticator: Authenticator): Promise<Credential | undefined> {
    const login = parseBasicHeader(request.headers.authorization);
    return login && authenticator.identify(login, () => request.ip ?? '');
  }
}

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

/** 403 where the credential's level does not reach what the route needs. */
@Injectable()
export class LevelGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { isPublic, needed } = accessOf(context);
    if (isPublic || needed === undefined) return true;
    if (!reaches(callerOf(context.switchToHttp().getRequest<Request>()).level, needed))
      throw problems.levelMissing(needed);
    return true;
  }
}
