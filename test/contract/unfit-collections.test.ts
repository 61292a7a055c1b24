/** @depends-on-server */
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { mongo } from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/index.js';
import { Preparation } from '../../src/platform/database/index.js';
import { eventually, freshDatabase, send, type TestApplication, TestService } from '../support/index.js';

/** What a start on a database ends with. */
async function outcomeOn(uri: string): Promise<string> {
  const settings = readSettings({ MONGODB_URI: uri, LOG_LEVEL: 'silent' });
  const app: NestExpressApplication = await createApp(settings, uri);
  await app.init();
  const outcome = await app.get(Preparation).done.then(
    () => 'ready',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  await app.close();
  return outcome;
}

type Making = (db: mongo.Db, name: string) => Promise<unknown>;

const UNFIT: [string, Making, string][] = [
  ['a view', (db, name) => db.createCollection(name, { viewOn: 'theirs', pipeline: [] }), 'is a view'],
  [
    'a capped collection',
    (db, name) => db.createCollection(name, { capped: true, size: 1_000_000 }),
    'is capped',
  ],
  [
    'a time series',
    (db, name) => db.createCollection(name, { timeseries: { timeField: 'lastupdated' } }),
    'is a time series',
  ],
  [
    'a collection with a collation',
    (db, name) => db.createCollection(name, { collation: { locale: 'en', strength: 2 } }),
    'has a collation',
  ],
];

describe.each(UNFIT)('%s in place of a collection of the service', (_what, make, told) => {
  it.each(['members', 'products', 'tidemark.ledger', 'tidemark.leases'])(
    'ends the start with one sentence: %s',
    async (name) => {
      const { uri, client, db } = await freshDatabase();
      await make(db, name);
      const message = await outcomeOn(uri);
      expect(message).toMatch(/^FatalError: [^\n]+, then start again\.$/);
      expect(message).toContain(`The collection ${name} ${told}`);
      await db.dropCollection(name);
      expect(await outcomeOn(uri)).toBe('ready');
      await db.dropDatabase();
      await client.close();
    },
  );
});

describe('while the service runs', () => {
  let service: TestService;
  let app: TestApplication;
  beforeEach(async () => {
    service = await TestService.start();
    app = await service.application();
  });
  afterEach(() => service.stop());

  const readiness = () => send(`${service.url}/health/ready`, 'GET', {});
  const detail = async () => {
    const { json } = await readiness();
    return (json as { details: { database: { detail?: string } } }).details.database.detail;
  };

  it.each(UNFIT)(
    '%s in place of a collection makes the instance unready, and it recovers',
    async (_what, make, told) => {
      await app.product({ id: 'first' });
      await service.watcher.caughtUp();
      await service.db.collection('products').rename('aside');
      await make(service.db, 'products');
      await eventually(async () => (await detail())?.includes(`The collection products ${told}`) === true);
      expect((await readiness()).status).toBe(503);
      await service.db.dropCollection('products');
      await service.db.collection('aside').rename('products');
      await service.ready();
      const { _id } = await app.product({ id: 'second' });
      expect(_id).toBeDefined();
      await service.watcher.caughtUp();
      expect((await app.feed('product').page()).ids).toEqual(['first', 'second']);
    },
  );
});
