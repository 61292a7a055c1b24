import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type Request,
  type Response,
  type NextFunction,
  type RequestHandler,
} from 'express';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { answerText, answerProblem, UNSHARED } from './answer.js';
import { Problem } from './problem.js';
import { problems } from './problems.js';
import { createSecureServer } from './certificate.js';
import { isOfPages } from './own-paths.js';
import helmet from 'helmet';

/** Interval of the check for requests that exceed their time limits (milliseconds). Node's default is 30 s. */
const LOOKED_EVERY_MS = 1000;

/**
 * Refuses, by throwing, a request whose path exists but does not support its method. `pattern` is the path's pattern,
 * `methods` the supported methods.
 */
export type OtherMethodHandler = (
  asked: { request: Request; response: Response },
  path: { pattern: string; methods: string[] },
) => Promise<void>;

/**
 * Express changes the prototype of each request and each answer. V8 then loses its optimized object layout, which
 * costs more than all the rest of Express. This adapter creates both with the prototypes that Express needs.
 */
export class ReadyExpressAdapter extends ExpressAdapter {
  /** Makes one more server for the same routes, without TLS. `before` sees each of its requests first. */
  plainServer!: (before: (request: IncomingMessage) => void) => Server;

  private otherMethod: OtherMethodHandler | undefined;

  /**
   * With options for TLS, the server speaks HTTPS. Routing is strict and case-sensitive, so that a different spelling
   * of a path cannot bypass a proxy's rule.
   */
  constructor(private readonly tls?: TlsOptions) {
    super(express().enable('case sensitive routing').enable('strict routing'));
  }

  /**
   * Call this before the routes are created. Without a handler, an unsupported method is answered as an unknown path.
   */
  onOtherMethod(handler: OtherMethodHandler): void {
    this.otherMethod = handler;
  }

  /** Called last, after all routes. */
  override setNotFoundHandler(...args: Parameters<ExpressAdapter['setNotFoundHandler']>): void {
    const app = this.getInstance<Express>();
    const { otherMethod } = this;
    if (otherMethod !== undefined) {
      for (const [pattern, methods] of methodsByPath(app))
        app.all(pattern, (request, response) => otherMethod({ request, response }, { pattern, methods }));
    }
    super.setNotFoundHandler(...args);
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    class ReadyRequest extends IncomingMessage {}
    class ReadyResponse extends ServerResponse {}
    app.request = Object.setPrototypeOf(ReadyRequest.prototype, app.request) as Express['request'];
    app.response = Object.setPrototypeOf(ReadyResponse.prototype, app.response) as Express['response'];
    app.response.json = json;
    const classes = { IncomingMessage: ReadyRequest, ServerResponse: ReadyResponse };
    const options = { ...classes, connectionsCheckingInterval: LOOKED_EVERY_MS, requireHostHeader: false };
    this.httpServer =
      this.tls === undefined
        ? createServer(options, app)
        : createSecureServer({ ...options, ...this.tls }, app);
    this.plainServer = (before) =>
      createServer(options, (request, response) => {
        before(request);
        app(request, response);
      });
  }
}

/** Like Express's own `json`, with a line break at the end. */
function json(this: Response, value: unknown): Response {
  if (this.get('Content-Type') === undefined) this.type('json');
  return this.send(answerText(value));
}

/** The supported methods of each path of an application. Paths that support every method are omitted. */
function methodsByPath({ router }: Pick<Express, 'router'>): Map<string, string[]> {
  const found = new Map<string, Set<string | undefined>>();
  for (const { route } of router.stack) {
    if (route === undefined) continue;
    const methods = found.get(route.path) ?? new Set();
    found.set(route.path, methods);
    for (const { method } of route.stack as { method: string | undefined }[]) {
      methods.add(method?.toUpperCase());
      if (method === 'get') methods.add('HEAD');
    }
  }
  const limited = [...found].filter(([, methods]) => !methods.has(undefined));
  return new Map(limited.map(([path, methods]) => [path, [...methods] as string[]]));
}

const UNDECODABLE = 'The path has a percent sign that begins no UTF-8 character. Write % itself as %25.';

/** The problem for an error; undefined for an unknown error. */
type ProblemTranslator = (error: unknown) => Problem | undefined;

/**
 * The only place that turns errors of routes into answers: `application/problem+json`, never a stack, query or secret.
 * Errors after a complete answer, such as the answer at a deadline, are ignored.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly log = new Logger('Problem');

  constructor(private readonly translators: ProblemTranslator[]) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (response.writableEnded) return;
    const problem = this.problemOf(error);
    const { notice } = problem.extras;
    if (notice !== undefined) this.log.warn({ err: notice, requestId: request.id }, problem.message);
    else if (problem.status >= 500) this.log.error({ err: error, requestId: request.id }, problem.message);
    if (response.headersSent) response.destroy();
    else answerProblem(request, response, problem);
  }

  private problemOf(error: unknown): Problem {
    if (error instanceof Problem) return error;
    for (const translate of this.translators) {
      const problem = translate(error);
      if (problem !== undefined) return problem;
    }
    return fromHttp(error) ?? problems.internal();
  }
}

/** The problem for Nest's own exceptions: unknown paths, and paths that cannot be decoded. */
function fromHttp(error: unknown): Problem | undefined {
  if (!(error instanceof HttpException)) return undefined;
  if (error.getStatus() === 404) return problems.notFound();
  return error.getStatus() === 400 ? problems.malformedRequest(UNDECODABLE) : undefined;
}

/** Sent over TLS only. For this host alone: its subdomains may be other services. */
const HTTPS_ONLY = 'max-age=31536000';

/** These headers do not demand HTTPS: over plain HTTP, that would break the page under /docs. */
const forPages = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
}) as RequestHandler;

/** Answers of the API are data: a browser must not render one as a page or embed it in one. */
const OF_DATA = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Express middleware: sets the security and cache headers. */
export function forbid(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', UNSHARED);
  if ((request.socket as Partial<TLSSocket>).encrypted === true)
    response.setHeader('Strict-Transport-Security', HTTPS_ONLY);
  if (isOfPages(request.path)) return forPages(request, response, next) as void;
  for (const [name, value] of OF_DATA) response.setHeader(name, value);
  next();
}
