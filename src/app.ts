import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { administrationProblem } from './administration/index.js';
import { AppModule } from './app.module.js';
import { descriptorLimit, type Settings } from './config/index.js';
import { isUnasked, serveConsole } from './console/index.js';
import { databaseProblem } from './database/index.js';
import {
  answerClientError,
  answerInTime,
  answerProblem,
  Connections,
  endUnreadBodies,
  forbid,
  giveRequestId,
  refuseExpectation,
  type Patience,
  ProblemFilter,
  problems,
  readPlainTarget,
  ReadyExpressAdapter,
  serveDocs,
} from './http/index.js';
import { measure, Metrics, ServiceLogger } from './observability/index.js';
import { refuseOtherMethods } from './other-methods.js';
import { ConsumerNotes } from './replication/consumers/index.js';
import { aboutRequest, noteConsumer } from './replication/feed/index.js';

/** The service on a database, complete but not yet listening. */
export async function createApp(settings: Settings, mongodbUri: string): Promise<NestExpressApplication> {
  const adapter = new ReadyExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(settings, mongodbUri),
    adapter,
    { bodyParser: false, bufferLogs: true, abortOnError: false },
  );
  const logger = app.get(ServiceLogger);
  app.useLogger(logger);
  const server = app.getHttpServer().on('clientError', answerClientError).setTimeout(STALLED_MS);
  server.keepAliveTimeout = settings.keepAliveMs;
  server.requestTimeout = settings.receiveMs;
  server.headersTimeout = Math.min(HEADERS_MS, settings.receiveMs);
  const tell = (line: string) => logger.warn(line, 'Connections');
  new Connections(mostConnections(settings), tell, settings.credentialConnections).watch(server);
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', refuseExpectation);
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  if (settings.trustProxy !== '') app.set('trust proxy', trusted(settings.trustProxy));
  if (settings.corsOrigins.length > 0) app.enableCors(cors(settings.corsOrigins));
  const metrics = app.get(Metrics);
  const ended = noteConsumer(app.get(ConsumerNotes, { strict: false }), metrics);
  app.use(
    giveRequestId,
    measure(metrics, logger, { ended, about: aboutRequest, isUnasked }),
    forbid,
    readPlainTarget,
    allowNotModified,
  );
  if (settings.role === 'watch') app.use(refuseToServe);
  app.use(endUnreadBodies, answerInTime(patience(settings)));
  app.useGlobalFilters(new ProblemFilter([databaseProblem, administrationProblem]));
  adapter.onOtherMethod(refuseOtherMethods(app));
  if (settings.console) serveConsole(app);
  if (settings.docs) serveDocs(app, settings.limitMax);
  return app;
}

/** Scripts of these pages may send a login, but no cookie of a browser is of any use to them. */
function cors(origins: string[]): CorsOptions {
  return {
    ...{ origin: origins, credentials: false, maxAge: 600, optionsSuccessStatus: 204 },
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Last-Event-ID'],
    exposedHeaders: ['ETag', 'Link', 'Location', 'Retry-After', 'Tidemark-To', 'X-Request-Id'],
  };
}

/** Files and connections of other kinds: to MongoDB a hundred and more, where `MONGODB_URI` does not say otherwise. */
const OTHER_DESCRIPTORS = 256;
/** As most systems have it. */
const USUAL_DESCRIPTORS = 1024;

function mostConnections({ maxConnections }: Settings): number {
  const descriptors = descriptorLimit() ?? USUAL_DESCRIPTORS;
  const free = Math.max(Math.floor(descriptors / 2), descriptors - OTHER_DESCRIPTORS);
  return maxConnections === 0 ? free : Math.min(maxConnections, free);
}

/** A client that takes nothing for so long is let go: what is held for it would be held for ever. */
const STALLED_MS = 120_000;

/** The headers of a request arrive within it; those of a first one as of its connection (milliseconds). */
const HEADERS_MS = 20_000;

/** Longest time to an answer besides waiting for the watcher, which has a setting of its own (milliseconds). */
const ANSWER_MS = 8000;

/** Most requests that may wait for their answers: each holds memory and its work in the database. */
const WAITING_REQUESTS = 500;

/** They tell how the service is, most of all where nothing else answers. */
const ABOUT_THE_SERVICE = /^\/(health\/(live|ready)|metrics|console(\/.*)?|docs(\/[^/]*)?|openapi\.json)$/;

function patience({ markWait }: Settings): Patience {
  return {
    ms: ANSWER_MS + markWait,
    requests: WAITING_REQUESTS,
    isExempt: (path) => ABOUT_THE_SERVICE.test(path),
  };
}

/**
 * Express answers no 304 beside a `Cache-Control: no-cache`, which `fetch` sends along with If-None-Match. Nothing here
 * comes from a cache, every ETag is compared with the data of this moment, so that wish is met anyway.
 */
function allowNotModified(request: Request, _response: Response, next: NextFunction): void {
  delete request.headers['cache-control'];
  next();
}

/** What an instance that only watches answers. */
const OWN_STATE = /^\/(health\/(live|ready)|metrics)$/;

function refuseToServe(request: Request, response: Response, next: NextFunction): void {
  if (OWN_STATE.test(request.path)) next();
  else answerProblem(request, response, problems.notServing());
}

/** A number of proxies, or the names and networks that Express knows. */
function trusted(setting: string): number | string {
  return /^\d+$/.test(setting) ? Number(setting) : setting;
}
