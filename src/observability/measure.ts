import type { NextFunction, Request, Response } from 'express';
import type { AboutRequest, ServiceLogger } from './logging.js';
import type { Metrics } from './metrics.js';

/** Load balancers and Prometheus ask for it every few seconds. */
const UNLOGGED = /^\/(health\/|metrics(\?|$))/;
const FIRST_FAILURE = 400;
/** Characters of a URL in the log. */
const LONGEST_URL = 1000;
/** Anybody can send other ones: each would be a series for ever. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What other rooms know of requests. */
interface Observers {
  /** Told of each request that has ended. */
  ended: (request: Request, response: Response) => void;
  /** Asked only where a line is written. */
  about: (request: Request, response: Response) => AboutRequest;
  /** Whether a request is logged only if it fails, since no person made it. */
  isUnasked: (request: Request) => boolean;
}

/**
 * Express middleware: how long each route takes, by its pattern and never by what a client put into the path. What is refused
 * without a credential counts for no route, so that the number of series does not follow what strangers send.
 */
export function measure(metrics: Metrics, logger: ServiceLogger, observers: Observers) {
  const { ended, about, isUnasked } = observers;
  return (request: Request, response: Response, next: NextFunction): void => {
    const begun = performance.now();
    response.once('close', () => {
      const ms = performance.now() - begun;
      const { id, method, originalUrl: url } = request;
      const { statusCode } = response;
      metrics.requests.observe({ ...seriesOf(request, statusCode), status: statusCode }, ms / 1000);
      ended(request, response);
      if (UNLOGGED.test(url) || (statusCode < FIRST_FAILURE && isUnasked(request))) return;
      logger.request(statusCode, () => ({
        req: { id, method, url: shortened(url) },
        res: { statusCode },
        responseTime: Math.round(ms),
        ...about(request, response),
      }));
    });
    next();
  };
}

/** A client without credentials can send a URL of 16,000 characters. */
function shortened(url: string): string {
  return url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)}… (${url.length} characters)` : url;
}

/** Without a credential there is one series for each status of a refusal, whatever was asked, and with which login. */
function seriesOf(
  { method, route, user }: Request & { user?: unknown },
  statusCode: number,
): { method: string; route: string } {
  if (user === undefined && statusCode >= FIRST_FAILURE) return { method: 'none', route: 'none' };
  const { path = 'none' } = (route as { path?: string } | undefined) ?? {};
  return { method: METHODS.has(method) ? method : 'other', route: path };
}
