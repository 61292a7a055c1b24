import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { mongo } from 'mongoose';
import { createApp } from '../../src/app.js';
import type { Kind } from '../../src/kinds/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import { ControlStream } from '../../src/platform/control/index.js';
import { Gauges, MetricsPort } from '../../src/health/index.js';
import { Metrics } from '../../src/platform/observability/index.js';
import { WatchedPlace } from '../../src/replication/store/index.js';
import { TestApplication } from './application.js';
import { searchAnswersOf } from './canaries.js';
import { dropDatabase, freshDatabase, type TestDatabase } from './database.js';
import { eventually } from './eventually.js';
import { collectionNamed, createWares, WARE } from './wares.js';
import { TestWatcher } from './watcher.js';

/** Milliseconds: a machine that does much else delays the watcher, and a test that does not look at that waits. */
const PATIENT_MARK_WAIT = '15000';

/** Settings: the audit takes slices of 3 records, without long pauses. */
export const QUICK_AUDIT = { AUDIT_SLICE: '3', AUDIT_SHARE: '100', AUDIT_PAUSE_MS: '10' };

/**
 * The shared service refuses no login because of those of the file before, and its hard deletes can all be in one minute.
 */
const SHARED = { LOGIN_FAILURES: '100000' };

/** The service in this process, on a database of the test run's replica set. */
export class TestService {
  private readonly watching: TestWatcher;
  private left = false;

  private constructor(
    readonly app: NestExpressApplication,
    private readonly database: TestDatabase,
    readonly url: string,
    private readonly more: { isShared?: boolean; apart?: string } = {},
  ) {
    const place = app.get(WatchedPlace, { strict: false });
    searchAnswersOf(url, database.db);
    this.watching = new TestWatcher(database.db, place, app.get(ControlStream, { strict: false }));
  }

  /**
   * The service that all test files of this worker share, on one database: for tests that look at applications of their own.
   * A test that counts what the whole service does, spies on it, or disturbs it or its database starts one of its own.
   */
  static async shared(): Promise<TestService> {
    const { app, database, url } = await sharedService.get(async () => {
      const { app, database, url } = await TestService.start(SHARED);
      return { app, database, url, client: database.client, uri: database.uri };
    });
    return new TestService(app, database, url, { isShared: true });
  }

  /**
   * Starts a service of the file's own that may have kinds of its own. A process knows the kinds of one database, so the shared
   * service ends before.
   */
  static async alone(
    environment: Record<string, string> = {},
    before: (db: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<TestService> {
    await sharedService.end();
    return TestService.start(environment, before);
  }

  /** Starts a service of the file's own that has wares as well, which are ready. */
  static async withWares(
    environment: Record<string, string> = {},
    before: (db: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<TestService> {
    const service = await TestService.alone(environment, async (db) => {
      await createWares(db);
      await before(db);
    });
    const leases = service.db.collection('tidemark.leases');
    const isReady = { kinds: { $elemMatch: { kind: WARE, since: { $exists: true } } } };
    await eventually(async () => (await leases.countDocuments(isReady)) === 1);
    await service.watcher.caughtUp();
    return service;
  }

  /**
   * Starts a service of the file's own, on a fresh database; `before` may write into the empty database first. `environment`
   * overrides settings.
   */
  static async start(
    environment: Record<string, string> = {},
    before: (db: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<TestService> {
    const database = await freshDatabase();
    await before(database.db);
    return TestService.startOn(database, environment);
  }

  /** The same on a given database, which the service may enter as another user than the test. */
  static async startOn(
    database: TestDatabase,
    environment: Record<string, string> = {},
  ): Promise<TestService> {
    const service = await TestService.on(database, environment);
    await service.readyOr(() => service.stop());
    return service;
  }

  private static async on(database: TestDatabase, environment: Record<string, string>): Promise<TestService> {
    const { uri } = database;
    const logLevel = process.env['TIDEMARK_TEST_CANARY'] === undefined ? 'silent' : 'trace';
    const standard = { MONGODB_URI: uri, PORT: '0', LOG_LEVEL: logLevel, MARK_WAIT: PATIENT_MARK_WAIT };
    const settings = readSettings({ ...standard, ...environment });
    const app = await createApp(settings, settings.mongodbUri ?? uri);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const url = `${settings.tlsCert === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
    if (settings.metricsPort === undefined) return new TestService(app, database, url);
    const apart = await app.get(MetricsPort, { strict: false }).listen(settings.metricsPort, '127.0.0.1');
    return new TestService(app, database, url, { apart: `http://127.0.0.1:${apart}` });
  }

  /** Where health and metrics are. */
  get stateUrl(): string {
    return this.more.apart ?? this.url;
  }

  /** The watcher as this instance hears of it, whichever instance leads. */
  get watcher(): TestWatcher {
    if (this.left) throw new Error('This instance has left: another one hears of the watcher.');
    return this.watching;
  }

  get db(): mongo.Db {
    return this.database.db;
  }

  /** The collection of a kind, as other programs see it. */
  records(kind: Kind): mongo.Collection {
    return this.db.collection(collectionNamed(kind));
  }

  /** A client of the test's own. */
  get client(): mongo.MongoClient {
    return this.database.client;
  }

  get uri(): string {
    return this.database.uri;
  }

  /** Starts one more instance on the same database: beside this one, or after it has left. */
  async another(environment: Record<string, string> = {}): Promise<TestService> {
    const service = await this.listening(environment);
    await service.readyOr(() => service.app.close());
    return service;
  }

  /** The same, but does not wait until it is ready: it only listens. */
  listening(environment: Record<string, string> = {}): Promise<TestService> {
    return TestService.on(this.database, environment);
  }

  /** Waits until this instance has heard of everything written so far; at once where it does not listen. */
  heard(): Promise<void> {
    return this.watcher.heard();
  }

  /** Waits until this instance knows what requests of the application need, and reads nothing of it any more. */
  async knows(app: TestApplication): Promise<void> {
    await eventually(async () => {
      await app.max('member');
      return this.app.get(ControlStream, { strict: false }).isCurrent;
    });
    await this.watcher.caughtUp();
    for (const level of ['read', 'write', 'admin'] as const)
      for (const kind of ['member', 'product'] as const)
        for (let turn = 0; turn < 2; turn += 1) await app.get(`${kind}/max`, { user: app.user(level) });
  }

  /** An application of its own, with credentials of every level. */
  application(
    options: { organizationid?: string; appid?: string; settings?: object } = {},
  ): Promise<TestApplication> {
    return TestApplication.create(this, options);
  }

  async ready(): Promise<void> {
    await eventually(async () => (await fetch(`${this.stateUrl}/health/ready`)).status === 200);
  }

  /** A service that never becomes ready must not go on beside the tests that follow. */
  private async readyOr(end: () => Promise<void>): Promise<void> {
    try {
      await this.ready();
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** The value of a metric, such as `tidemark_ignored_records{kind="product"}`, now: a scrape may be a second old. */
  async metric(name: string): Promise<number> {
    await this.app.get(Gauges, { strict: false }).refresh();
    const text = await this.app.get(Metrics, { strict: false }).registry.metrics();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? NaN : Number(line.slice(name.length));
  }

  /** The same of what a scrape leaves out where the database does not answer in time: waits until it is there. */
  async presentMetric(name: string): Promise<number> {
    let value = NaN;
    await eventually(async () => !Number.isNaN((value = await this.metric(name))));
    return value;
  }

  /** Stops this instance in good order; the database stays. */
  async leave(): Promise<void> {
    if (this.more.isShared === true) throw new Error('Other files use this service.');
    this.left = true;
    await this.app.close();
  }

  /** Ends this instance, whose database is away. */
  async end(): Promise<void> {
    await this.app.close();
    await this.database.client.close();
  }

  /** Stops this instance, and drops the database: the last instance does so. */
  async stop(): Promise<void> {
    if (this.more.isShared === true) throw new Error('Other files use this service.');
    if (!this.left) await this.app.close();
    await dropDatabase(this.database);
  }
}
