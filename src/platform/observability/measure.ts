import type { NextFunction, Request, Response } from 'express';
import { answeredProblem } from '../http/index.js';
import { type AboutRequest, type ServiceLogger, traceField } from './logging.js';
import { Metrics } from './metrics.js';
import type { RequestSpan } from './traces/spans.js';
import type { Tracing } from './tracing.js';

/** Paths that load balancers and Prometheus request every few seconds. */
const UNLOGGED = /^\/(health\/|metrics(\?|$))/;
const FIRST_FAILURE = 400;
/** Maximum number of characters of a URL in the log. */
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
  /** The application of a request that may access it, for traces. */
  tenant: (request: Request) => { organizationid: string; appid: string } | undefined;
  /** The kind that a path names, if it exists. Each kind has series of its own, but kinds are few. */
  kindOf: (request: Request) => string | undefined;
  /** Whether a request is automatic, and therefore logged only if it fails. */
  isUnasked: (request: Request) => boolean;
}

/**
 * Express middleware: measures the duration of each route by its pattern, never by values that a client put into the
 * path, except the name of an existing kind. A request that is refused without a credential counts for no route, so
 * that anonymous clients cannot increase the number of series.
 */
export function measure(
  { metrics, logger, tracing }: { metrics: Metrics; logger: ServiceLogger; tracing: Tracing },
  observers: Observers,
) {
  const { ended, about, tenant, kindOf, isUnasked } = observers;
  return (request: Request, response: Response, next: NextFunction): void => {
    const begun = performance.now();
    const span = tracing.isOn ? spanOf(tracing, request) : undefined;
    response.once('close', () => {
      const ms = performance.now() - begun;
      const { id, method, originalUrl: url } = request;
      const statusCode = statusOf(response);
      const series = seriesOf(request, statusCode, kindOf);
      metrics.requests.observe({ ...series, status: statusCode ?? 'none' }, ms / 1000);
      ended(request, response);
      span?.end({ ...endOf(request, response), ...tenant(request) });
      if (UNLOGGED.test(url) || ((statusCode ?? 0) < FIRST_FAILURE && isUnasked(request))) return;
      logger.request(statusCode, () => ({
        req: { id, method, url: shortened(url) },
        res: { statusCode },
        responseTime: Math.round(ms),
        ...traceField(request.traceId),
        ...about(request, response),
      }));
    });
    if (span === undefined) next();
    else span.run(next);
  };
}

/** The status that was sent; null if the connection ended before. Node's default is 200 even then. */
function statusOf({ headersSent, statusCode, socket, writableFinished }: Response): number | null {
  // An answer that waits behind another one of its connection has no socket yet; a complete one has none any longer.
  return headersSent && (socket !== null || writableFinished) ? statusCode : null;
}

/** Begins the span of a request, unless its path is one of those that are never logged. */
function spanOf(tracing: Tracing, request: Request): RequestSpan | undefined {
  const { method, originalUrl, protocol, headers } = request;
  if (UNLOGGED.test(originalUrl)) return undefined;
  const { traceparent } = headers;
  const span = tracing.request({
    method: METHODS.has(method) ? method : undefined,
    scheme: protocol,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  });
  if (span?.traceId !== undefined) request.traceId = span.traceId;
  return span;
}

/** What the span of a request shows: the pattern of its path, never the path, which contains ids and names. */
function endOf({ route }: Request, response: Response) {
  const { path } = (route as { path?: unknown } | undefined) ?? {};
  const status = statusOf(response) ?? undefined;
  return {
    route: typeof path === 'string' ? path : undefined,
    status,
    error: status === undefined ? 'aborted' : answeredProblem(response)?.slug,
  };
}

/** A client without credentials can send a URL of 16,000 characters. */
function shortened(url: string): string {
  return url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)}… (${url.length} characters)` : url;
}

/**
 * The labels of a request. Without a valid credential, each status of a refusal has one series, regardless of the
 * method and the path, and so have requests without an answer.
 */
function seriesOf(
  request: Request & { user?: unknown },
  statusCode: number | null,
  kindOf: Observers['kindOf'],
): { method: string; route: string } {
  const { method, user } = request;
  if (user === undefined && (statusCode ?? FIRST_FAILURE) >= FIRST_FAILURE)
    return { method: 'none', route: 'none' };
  const { path = 'none' } = (request.route as { path?: string } | undefined) ?? {};
  const kind = kindOf(request);
  return {
    method: METHODS.has(method) ? method : 'other',
    route: kind === undefined ? path : path.replace('/:kind/', `/${kind}/`),
  };
}
