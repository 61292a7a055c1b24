import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { mongo } from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/config/index.js';
import { TestApplication } from './application.js';
import { eventually } from './eventually.js';
import { TestWatcher } from './watcher.js';

/** The service in this process, on a fresh database of the test run's replica set. */
export class TestService {
  readonly watcher: TestWatcher;

  private constructor(
    readonly app: NestExpressApplication,
    readonly client: mongo.MongoClient,
    readonly db: mongo.Db,
    readonly uri: string,
    readonly url: string,
  ) {
    this.watcher = new TestWatcher(db);
  }

  /** Starts the service; `before` may write into the empty database first. `environment` overrides settings. */
  static async start(
    environment: Record<string, string> = {},
    before: (db: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<TestService> {
    const { uri, client, db } = await freshDatabase();
    await before(db);
    const settings = readSettings({ MONGODB_URI: uri, PORT: '0', LOG_LEVEL: 'silent', ...environment });
    const app = await createApp(settings, uri);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const service = new TestService(app, client, db, uri, `http://127.0.0.1:${port}`);
    await service.ready();
    return service;
  }

  /** An application of its own, with credentials of every level. */
  application(
    options: { organizationid?: string; appid?: string; settings?: object } = {},
  ): Promise<TestApplication> {
    return TestApplication.create(this, options);
  }

  async ready(): Promise<void> {
    await eventually(async () => (await fetch(`${this.url}/health/ready`)).status === 200);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.db.dropDatabase();
    await this.client.close();
  }
}

/** A database that nobody else uses. */
export async function freshDatabase(): Promise<{ uri: string; client: mongo.MongoClient; db: mongo.Db }> {
  const base = new URL(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '');
  base.pathname = `/t${randomUUID().replaceAll('-', '')}`;
  const client = await new mongo.MongoClient(base.href, { writeConcern: { w: 'majority' } }).connect();
  return { uri: base.href, client, db: client.db(base.pathname.slice(1)) };
}
