import {
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
  type CanActivate,
  Injectable,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport';
import { type Credential, type Level, parseBasicHeader, reaches } from './credential.js';
import { problems, takeConnection, whileProving } from '../platform/http/index.js';
import { Authenticator, CredentialUses } from './authenticator.js';
import { LoginLimiter } from './login-limiter.js';

const IS_PUBLIC = 'tidemark:public';
const IS_ABOVE = 'tidemark:above-applications';
const NEEDED_LEVEL = 'tidemark:level';

const reflector = new Reflector();
const accesses = new WeakMap<object, Access>();

/** Who may use a route: everyone, or credentials with the needed level; without a level, every credential. */
interface Access {
  isPublic: boolean;
  /** The route is not within one application, so its controller checks the scopes. */
  isAbove: boolean;
  needed?: Level;
}

/** Opens a route to callers without credentials. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** Marks a route that is not within one application, as in the administration. */
export const AboveApplications = () => SetMetadata(IS_ABOVE, true);

/** The level that a route needs. The default is `read`. */
export const Needs = (level: Level) => SetMetadata(NEEDED_LEVEL, level);

/** The credential of the caller, in a handler after the guard. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);

/**
 * The access rules from the decorators of a route or its controller. They are read once for each route and then
 * cached.
 */
export function accessOf(context: ExecutionContext): Access {
  const handler = context.getHandler();
  const known = accesses.get(handler);
  if (known !== undefined) return known;
  const targets = [handler, context.getClass()];
  const isPublic = reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, targets) ?? false;
  const isAbove = reflector.getAllAndOverride<boolean | undefined>(IS_ABOVE, targets) ?? false;
  const needed = reflector.getAllAndOverride<Level | undefined>(NEEDED_LEVEL, targets);
  const access = { isPublic, isAbove, ...(needed && { needed }) };
  accesses.set(handler, access);
  return access;
}

export function callerOf(request: Request): Credential {
  return request.user as Credential;
}

const matched = new WeakMap<Request, string>();

/** The stored hash that the password of the request matched; undefined if the request has no login of its own. */
export function matchedHashOf(request: Request): string | undefined {
  return matched.get(request);
}

const acting = new WeakMap<Request, Credential>();

/** Makes the request of an administrator read as another credential. */
export function actAs(request: Request, other: Credential, caller: Credential): void {
  request.user = other;
  acting.set(request, caller);
}

/** The administrator who reads as another credential; undefined if the credential is the caller's own. */
export function actingCallerOf(request: Request): Credential | undefined {
  return acting.get(request);
}

/**
 * The options that the guard passes to the strategy. The strategy does not hold the authenticator itself, because
 * Passport has one strategy for the whole process, in which several instances may run.
 */
interface BasicOptions {
  authenticator: Authenticator;
}

/** HTTP Basic with its own parser: the usual strategy cuts passwords at every colon and refuses empty ones. */
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
    const proven = login && (await authenticator.identify(login, () => request.ip ?? ''));
    if (proven !== undefined) matched.set(request, proven.passwordhash);
    return proven?.credential;
  }
}

/** Answers 401 unless the route is @Public, a session has authenticated the caller, or the login is valid. */
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
    const actor = actingCallerOf(request);
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

/** Answers 403 if the credential's level is insufficient for the route. */
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
