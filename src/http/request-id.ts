import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- so are the types of Express extended
  namespace Express {
    interface Request {
      /** Ties an answer to its log lines. */
      id: string;
    }
  }
}

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Express middleware, before all others: the id that ties an answer to its log lines is the caller's `X-Request-Id`
 * where that is harmless, else a UUID.
 */
export function giveRequestId(request: Request, response: Response, next: NextFunction): void {
  const sent = request.headers['x-request-id'];
  request.id = typeof sent === 'string' && ACCEPTABLE.test(sent) ? sent : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  next();
}
