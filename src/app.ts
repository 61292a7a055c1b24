import type { IncomingMessage, Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { INestApplication } from '@nestjs/common';
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';
import { ExternalContextCreator, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { administrationProblem } from './administration/index.js';
import { AppModule } from './app.module.js';
import { applicationOf } from './application/index.js';
import { AboveApplications, Needs } from './auth/index.js';
import { descriptorLimit, type Settings, versionInWords } from './platform/config/index.js';
import { isUnasked, serveConsole } from './administration/console/index.js';
import { MetricsPort } from './health/index.js';
import { describedKind, isBuiltIn, isKind, kindNames } from './kinds/index.js';
import { databaseProblem } from './platform/database/index.js';
import {
  answerInTime,
  answerProblem,
  certificateFiles,
  type CertificateObserver,
  clientErrorHandler,
  closeQueued,
  Connections,
  endStalled,
  endUnreadBodies,
  forbid,
  giveRequestId,
  isAboutTheService,
  type LogAnswer,
  noteExpectation,
  type OtherMethodHandler,
  type Patience,
  ProblemFilter,
  problems,
  readPlainTarget,
  ReadyExpressAdapter,
  refuseExpectation,
  ServedCertificate,
  serveDocs,
} from './platform/http/index.js';
import { measure, Metrics, ServiceLogger, Tracing } from './platform/observability/index.js';
import { ConsumerNotes, aboutRequest, noteConsumer } from './replication/feed/index.js';

/**
 * Descriptors reserved for files and other connections. The MongoDB pool alone uses 100 and more, unless
 * `MONGODB_URI` limits it.
 */
const OTHER_DESCRIPTORS = 256;
/** The usual descriptor limit of an operating system. */
const USUAL_DESCRIPTORS = 1024;

/** Connections of METRICS_PORT, for probes and scrapes. At most three quarters are open without a login. */
const APART_CONNECTIONS = 64;

/**
 * Time limit for the headers of a request (milliseconds). For the first request it starts with the connection, or with
 * the end of the TLS handshake, which has as much time itself.
 */
const HEADERS_MS = 20_000;

/** Longest time to an answer (milliseconds), without the wait for the watcher, which has its own setting. */
const ANSWER_MS = 8000;

/** Maximum number of requests that wait for an answer. Each holds memory and may occupy the database. */
const WAITING_REQUESTS = 500;

/** The only paths that METRICS_PORT serves, and the only ones of an instance with `ROLE=watch`. */
const OWN_STATE = /^\/(health\/(live|ready)|metrics)$/;

/** Runs only the guards. Errors that they throw reach the usual exception filter. */
const GUARDS = { guards: true, interceptors: false, filters: false };
const NOTHING_ELSE = [undefined, undefined, undefined, undefined] as const;

const OF_REQUESTS = { about: aboutRequest, tenant: applicationOf, kindOf, isUnasked };

/** The service on a database, complete but not yet listening. */
export async function createApp(settings: Settings, mongodbUri: string): Promise<NestExpressApplication> {
  const files = certificateFiles(settings);
  const certificate = files && new ServedCertificate(files);
  const adapter = new ReadyExpressAdapter(
    certificate && { ...certificate.options, handshakeTimeout: HEADERS_MS },
  );
  const tracing = await Tracing.start(settings);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(settings, mongodbUri, tracing),
    adapter,
    { bodyParser: false, bufferLogs: true, abortOnError: false },
  );
  const logger = app.get(ServiceLogger);
  logger.log(`Tidemark ${versionInWords()} starts`, 'Start');
  app.useLogger(logger);
  const server = app.getHttpServer();
  const { warn, refused } = connectionLog(logger);
  bound(server, settings, { connections: connectionsOf(settings, warn), refused });
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  if (settings.trustProxy !== '') app.set('trust proxy', trusted(settings.trustProxy));
  if (settings.corsOrigins.length > 0) app.enableCors(cors(settings.corsOrigins));
  const metrics = app.get(Metrics);
  certificate?.follow(server as SecureServer, certificateObserver(logger, metrics));
  const ended = noteConsumer(app.get(ConsumerNotes, { strict: false }), metrics);
  app.use(
    giveRequestId,
    measure({ metrics, logger, tracing }, { ...OF_REQUESTS, ended }),
    forbid,
    refuseExpectation,
    readPlainTarget,
    allowNotModified,
  );
  if (settings.metricsPort !== undefined) {
    const isApart = openApart(app, adapter, (own) =>
      bound(own, settings, { connections: connectionsApart(warn), refused }),
    );
    app.use(keepApart(isApart));
  }
  if (settings.role === 'watch') app.use(refuseToServe);
  app.use(endUnreadBodies, answerInTime(patience(settings)));
  app.useGlobalFilters(new ProblemFilter([databaseProblem, administrationProblem]));
  adapter.onOtherMethod(refuseOtherMethods(app));
  if (settings.console) serveConsole(app);
  const isOnMainPort = (path: string) => settings.metricsPort === undefined || !OWN_STATE.test(path);
  if (settings.docs) serveDocs(app, { limitMax: settings.limitMax, isServed: isOnMainPort, createdKinds });
  leadToPage(app, settings);
  return app;
}

/** Leads from `/` to the first page for people. The path is relative, because a proxy may serve it behind a prefix. */
function leadToPage(app: INestApplication, { console, docs }: Settings): void {
  const page = console ? 'console' : docs ? 'docs' : undefined;
  if (page === undefined) return;
  app.getHttpAdapter().get('/', (_request: Request, response: Response) => response.redirect(page));
}

function connectionsOf(settings: Settings, warn: (line: string) => void): Connections {
  return new Connections(mostConnections(settings), warn, settings.credentialConnections);
}

function connectionsApart(warn: (line: string) => void): Connections {
  return new Connections(APART_CONNECTIONS, warn, 0, 'METRICS_PORT takes');
}

/** What the log says of connections: warnings, and the answers to what is no request, which have no line of a request. */
function connectionLog(logger: ServiceLogger): { warn: (line: string) => void; refused: LogAnswer } {
  const context = 'Connections';
  return {
    warn: (line) => logger.warn(line, context),
    refused: (problem, requestId) => logger.log({ requestId }, problem.message, context),
  };
}

/** Bounds the connections and requests of a server. */
function bound(
  server: Server,
  { keepAliveMs, receiveMs, stalledMs }: Settings,
  { connections, refused }: { connections: Connections; refused: LogAnswer },
): void {
  server.on('clientError', clientErrorHandler(refused));
  endStalled(server, stalledMs);
  closeQueued(server);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = receiveMs;
  server.headersTimeout = Math.min(HEADERS_MS, receiveMs);
  connections.watch(server);
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', noteExpectation);
}

/** Prepares the server for METRICS_PORT. Returns a function that reports whether a request came to that server. */
function openApart(
  app: INestApplication,
  adapter: ReadyExpressAdapter,
  limit: (server: Server) => void,
): (request: IncomingMessage) => boolean {
  const apart = new WeakSet<IncomingMessage>();
  const server = adapter.plainServer((request) => apart.add(request));
  limit(server);
  app.get(MetricsPort, { strict: false }).use(server);
  return (request) => apart.has(request);
}

/** Health and metrics are served on METRICS_PORT alone, and nothing else is served there. */
function keepApart(isApart: (request: IncomingMessage) => boolean): RequestHandler {
  return (request, response, next) => {
    if (OWN_STATE.test(request.path) === isApart(request)) next();
    else answerProblem(request, response, problems.notFound());
  };
}

function kindOf({ params }: Partial<Request>): string | undefined {
  const kind = params?.['kind'];
  return isKind(kind) ? kind : undefined;
}

function createdKinds(): { name: string; plural: string }[] {
  const names = kindNames().filter((kind) => !isBuiltIn(kind));
  return names.map((name) => ({ name, plural: describedKind(name).plural }));
}

type Passing = (request: Request, response: Response) => Promise<void>;

/** Empty handlers that carry the metadata that the guards read. */
class Behind {
  inApplications(this: void): void {}

  @AboveApplications()
  @Needs('admin')
  inAdministration(this: void): void {}
}

/**
 * Scripts of these origins may send a login. Browser cookies are excluded, because they are of no use to such
 * scripts.
 */
function cors(origins: string[]): CorsOptions {
  return {
    ...{ origin: origins, credentials: false, maxAge: 600, optionsSuccessStatus: 204 },
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Last-Event-ID'],
    exposedHeaders: ['ETag', 'Link', 'Location', 'Retry-After', 'Tidemark-To', 'X-Request-Id'],
  };
}

function certificateObserver(logger: ServiceLogger, { certificateEnds }: Metrics): CertificateObserver {
  return {
    info: (line) => logger.log(line, 'Certificate'),
    warn: (line) => logger.warn(line, 'Certificate'),
    served: (ends) => certificateEnds.set(ends.getTime() / 1000),
  };
}

function mostConnections({ maxConnections, metricsPort }: Settings): number {
  const descriptors = descriptorLimit() ?? USUAL_DESCRIPTORS;
  const reserved = OTHER_DESCRIPTORS + (metricsPort === undefined ? 0 : APART_CONNECTIONS);
  const free = Math.max(Math.floor(descriptors / 2), descriptors - reserved);
  return maxConnections === 0 ? free : Math.min(maxConnections, free);
}

function patience({ markWait }: Settings): Patience {
  return {
    ms: ANSWER_MS + markWait,
    requests: WAITING_REQUESTS,
    // These are needed most when other requests fail.
    isExempt: isAboutTheService,
  };
}

/**
 * Express does not answer 304 to a request with `Cache-Control: no-cache`, and `fetch` sends that header with each
 * If-None-Match. It can be ignored: no answer comes from a cache, and each ETag is compared with current data.
 */
function allowNotModified(request: Request, _response: Response, next: NextFunction): void {
  delete request.headers['cache-control'];
  next();
}

function refuseToServe(request: Request, response: Response, next: NextFunction): void {
  if (OWN_STATE.test(request.path)) next();
  else answerProblem(request, response, problems.notServing());
}

/** The value for Express: a number of proxies, or names and networks. */
function trusted(setting: string): number | string {
  return /^\d+$/.test(setting) ? Number(setting) : setting;
}

/**
 * Answers 405 if a path exists but does not support the method. If the path requires credentials, the checks for 401,
 * 404 (application) and 403 come first (contract §3), so the answer reveals nothing to a caller without access.
 */
function refuseOtherMethods(app: INestApplication): OtherMethodHandler {
  const contexts = app.get(ExternalContextCreator);
  const behind = new Behind();
  const passing = (name: keyof Behind) =>
    contexts.create(behind, behind[name], name, ...NOTHING_ELSE, GUARDS) as Passing;
  const passApplications = passing('inApplications');
  const passAdministration = passing('inAdministration');
  return async ({ request, response }, { pattern, methods }) => {
    if (pattern.startsWith('/:org/')) await passApplications(request, response);
    if (pattern.startsWith('/admin/')) await passAdministration(request, response);
    throw problems.methodNotAllowed(methods.join(', '));
  };
}
