import type { NextFunction, Request, Response } from 'express';
import type { ServiceLogger } from './logging.js';
import type { Metrics } from './metrics.js';

/** Load balancers and Prometheus ask for it every few seconds. */
const UNLOGGED = /^\/(health\/|metrics(\?|$))/;

/** Express middleware: how long each route takes, by its pattern and never by what a client put into the path. `ended` is told of
 * each request that has ended. */
export function measure(
  metrics: Metrics,
  logger: ServiceLogger,
  ended: (request: Request, response: Response) => void,
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const begun = performance.now();
    response.once('close', () => {
      const ms = performance.now() - begun;
      const { id, method, originalUrl: url } = request;
      const { statusCode } = response;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      metrics.requests.observe({ method, route, status: statusCode }, ms / 1000);
      ended(request, response);
      if (UNLOGGED.test(url)) return;
      logger.request(statusCode, () => ({
        req: { id, method, url },
        res: { statusCode },
        responseTime: Math.round(ms),
      }));
    });
    next();
  };
}
