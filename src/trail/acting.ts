import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { callerOf } from '../auth/index.js';
import type { Actor } from './trail-entry.js';

/** Who sends a request. */
export function actorOf(request: Request): Actor {
  const { username: who } = callerOf(request);
  return { who, via: 'http', from: request.ip ?? '', requestId: String(request.id) };
}

/** The sender of the request, in a handler after the guard. */
export const Acting = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  actorOf(context.switchToHttp().getRequest<Request>()),
);
