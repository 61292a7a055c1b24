import type { NextFunction, Request, Response } from 'express';
import type { AboutRequest, ServiceLogger } from './logging.js';
import { Metrics } from './metrics.js';

/** Paths that load balancers and Prometheus request every few seconds. */
const UNLOGGED = /^\/(health\/|metrics(\?|$))/;
const FIRST_FAILURE = 400;
/** Characters of a URL in the log. */
const LONGEST_URL = 1000;
/**
 * The methods with their own series. Others are grouped, because clients can send any method and each series would be
 * kept forever.
 */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What other modules contribute to the observation of requests. */
interface Observers {
  /** Called for each request that has ended. */
  ended: (request: Request, response: Response) => void;
  /** Called only if a line is written. */
  about: (request: Request, response: Response) => AboutRequest;
  /** Whether a request is automatic, and therefore logged only if it fails. */
  isUnasked: (request: Request) => boolean;
}

/**
 * Express middleware: measures the duration of each route by its pattern, never by values that a client put into the
 * path. A request that is refused without a credential counts for no route, so that anonymous clients cannot increase
 * the number of series.
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

/**
 * The labels of a request. Without a credential, each status of a refusal has one series, regardless of the path and
 * the login.
 */
function seriesOf(
  { method, route, user }: Request & { user?: unknown },
  statusCode: number,
): { method: string; route: string } {
  if (user === undefined && statusCode >= FIRST_FAILURE) return { method: 'none', route: 'none' };
  const { path = 'none' } = (route as { path?: string } | undefined) ?? {};
  return { method: METHODS.has(method) ? method : 'other', route: path };
}
