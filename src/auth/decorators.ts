import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { Credential, Level } from './credential.js';

export const IS_PUBLIC = 'tidemark:public';
export const NEEDED_LEVEL = 'tidemark:level';

/** Opens a route to callers without credentials. */
export const Public = () => SetMetadata(IS_PUBLIC, true);

/** The level that a route needs; without it `read`. */
export const Needs = (level: Level) => SetMetadata(NEEDED_LEVEL, level);

/** The credential of the caller, in a handler behind the guard. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);

export function callerOf(request: Request): Credential {
  return request.user as Credential;
}
