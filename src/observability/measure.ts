import type { NextFunction, Request, Response } from 'express';
import type { Metrics } from './metrics.js';

/** Express middleware: how long each route takes, by its pattern and never by what a client put into the path. */
export function measure(metrics: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const end = metrics.requests.startTimer();
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      end({ method: request.method, route, status: response.statusCode });
    });
    next();
  };
}
