import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Credential, Level } from './credential.js';

const IS_PUBLIC = 'tidemark:public';
const IS_ABOVE = 'tidemark:above-applications';
const NEEDED_LEVEL = 'tidemark:level';

const reflector = new Reflector();
const accesses = new WeakMap<object, Access>();

/** Who may use a route: everybody, or whose credential reaches the level; without one, every credential. */
interface Access {
  isPublic: boolean;
  /** The route is about applications, not in one: what the scopes allow is for its controller to ask. */
  isAbove: boolean;
  needed?: Level;
}

/** Opens a route to callers without credentials. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** The route stands above the applications, as administration does. */
export const AboveApplications = () => SetMetadata(IS_ABOVE, true);

/** The level that a route needs; without it `read`. */
export const Needs = (level: Level) => SetMetadata(NEEDED_LEVEL, level);

/** The credential of the caller, in a handler behind the guard. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);

/** What the decorators of a route say, or of its controller. Asked for each request, it is looked up once. */
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

const acting = new WeakMap<Request, Credential>();

/** Lets somebody read as another credential would. */
export function actAs(request: Request, other: Credential, caller: Credential): void {
  request.user = other;
  acting.set(request, caller);
}

/** The administrator who reads as another credential; undefined if the credential is the caller's own. */
export function actorOf(request: Request): Credential | undefined {
  return acting.get(request);
}
