import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { getConnectionToken } from '@nestjs/mongoose';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Connection } from 'mongoose';
import { createApp } from './app.js';
import { FatalError } from './platform/common/index.js';
import {
  ConfigError,
  endedSupport,
  type Settings,
  settingsOfProcess,
  WRONG_SETTINGS,
} from './platform/config/index.js';
import { Preparation } from './platform/database/index.js';
import { type EmbeddedDatabase, startEmbedded } from './embedded/index.js';
import { MetricsPort, Readiness } from './health/index.js';
import { setUpHeap } from './heap.js';
import {
  assertCanListen,
  assertCertificate,
  baseUrlOf,
  listen,
  reportDatabase,
  say,
  stopOnSignals,
  unexpected,
  urlApart,
} from './start.js';
import { Metrics } from './platform/observability/index.js';
import { EventStreams, MaxService } from './replication/feed/index.js';
import { FormatWatch, WorkedThrough } from './replication/store/index.js';

let embedded: EmbeddedDatabase | undefined;
let isStopping = () => false;
let isServing = false;

async function main(): Promise<void> {
  setUpHeap();
  const settings = settingsOfProcess();
  assertCertificate(settings);
  await assertCanListen(settings);
  const mongodbUri = settings.mongodbUri ?? (await embeddedUri(settings));
  const app = await createApp(settings, mongodbUri);
  isStopping = stopOnSignals(app, {
    say,
    beUnready: () => app.get(Readiness, { strict: false }).stop(),
    endStreams: () => app.get(EventStreams, { strict: false }).end(),
    stopDatabase: async () => embedded?.stop(),
  });
  app.get(Metrics).collectProcess();
  void app.get(FormatWatch, { strict: false }).refused.catch(fail);
  // From here on, the message of an error may contain values of records: the watcher reads records before the port is
  // open.
  isServing = true;
  const apart = await listen(app, settings, app.get(MetricsPort, { strict: false }));
  const { port } = app.getHttpServer().address() as AddressInfo;
  const baseUrl = baseUrlOf(settings, port);
  const preparation = app.get(Preparation);
  if (embedded === undefined) await reportDatabase(preparation, say);
  say(`Tidemark listens at ${baseUrl}`);
  if (apart !== undefined) say(`Health and metrics are at ${urlApart(settings, apart)}`);
  const ended = endedSupport();
  if (ended !== undefined) new Logger('Start').warn(ended);
  if (embedded) say(`Other programs can write into the embedded database at ${embedded.uri}`);
  await preparation.done;
  if (embedded !== undefined) await showDemo(app, settings, baseUrl);
}

/** Creates the demo of the embedded database as soon as no pass is in progress. */
async function showDemo(app: NestExpressApplication, settings: Settings, baseUrl: string): Promise<void> {
  const { db } = app.get<Connection>(getConnectionToken());
  const marks = app.get(MaxService, { strict: false });
  await app.get(WorkedThrough, { strict: false }).noPass(new AbortController().signal);
  if (db === undefined) return;
  const { demo, DEMO } = await import('./demo/index.js');
  const lines = await demo(db, { ...settings, baseUrl, max: () => marks.max(DEMO, 'product') });
  lines.forEach(say);
}

async function embeddedUri(settings: Settings): Promise<string> {
  embedded = await startEmbedded({ ...settings, say, onLost: (error) => void fail(error) });
  return embedded.uri;
}

/**
 * Ends the process after a fatal error: with a clear message if an operator can help, else with the stack. Once records
 * may have been read, the stack is printed without the message. Errors after a stop has begun are expected and ignored.
 */
async function fail(error: unknown): Promise<void> {
  if (isStopping()) return;
  const isClear = error instanceof ConfigError || error instanceof FatalError;
  if (isClear) say(error.message);
  else say(isServing ? unexpected(error) : ((error as Error).stack ?? String(error)));
  await embedded?.stop().catch(() => undefined);
  process.exit(error instanceof ConfigError ? WRONG_SETTINGS : 1);
}

process.on('uncaughtException', (error) => void fail(error));
main().catch(fail);
