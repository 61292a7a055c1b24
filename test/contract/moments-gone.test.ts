/** @depends-on-server */
import mongoose, { type mongo } from 'mongoose';
import { isMomentGone, readAsOf } from '../../src/database/index.js';
import { BatchReader } from '../../src/replication/feed/query/index.js';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const setting = (seconds: number) =>
  service.client.db('admin').command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds });

describe('where the server does not hold a moment any more, the page shows where the watcher is', () => {
  afterEach(() => setting(300));

  /** Writes on until the server has let go of everything it held before. */
  async function forgotten(): Promise<void> {
    const { operationTime } = await service.db.command({ ping: 1 });
    const at = operationTime as mongo.Timestamp;
    const look = () =>
      readAsOf(service.client, at, (snapshot) => service.db.collection('products').findOne({}, snapshot));
    await setting(1);
    await eventually(async () => {
      await service.watcher.caughtUp();
      return look().then(() => false, isMomentGone);
    });
  }

  it('what has changed since is in the next window, nothing is missing in both', async () => {
    const [a] = [await app.put('product', { id: 'a' }), await app.put('product', { id: 'b' })];
    const to = await app.max('product');
    await app.change('product', a, { $set: { 'data.n': 1 } });
    await app.put('product', { id: 'c' });
    await forgotten();
    const late = await app.feed('product').drain({ to });
    const next = await app.feed('product').drain({ from: to });
    expect(late.map(({ id }) => id)).toContain('b');
    expect(new Set([...late, ...next].map(({ id }) => id))).toEqual(new Set(['a', 'b', 'c']));
  });

  it('also where an index was made again since', async () => {
    await app.put('product', { id: 'x' });
    const to = await app.max('product');
    const keys: mongo.IndexSpecification = { organizationid: 1, appid: 1, _id: 1 };
    await service.db.collection('products').dropIndex('organizationid_1_appid_1__id_1');
    await service.db.collection('products').createIndex(keys);
    await service.watcher.caughtUp();
    expect((await app.feed('product').page({ to })).answer.status).toBe(200);
  });
});

describe('a digest is of one moment', () => {
  const COUNT = 150;
  const PART = 100;
  let app: TestApplication;
  let to: string;
  beforeAll(async () => {
    app = await service.application();
    await app.products(COUNT, (n) => ({ id: `${'x'.repeat(900)}${n}` }));
    await service.watcher.caughtUp();
    to = (await app.max('product')).toISOString();
  });
  afterEach(() => jest.restoreAllMocks());

  /** The server lets go of the moment when so many parts have been read of it, and whatever is shown later is another one. */
  function goneBehind(parts: number): void {
    const reader = service.app.get(BatchReader, { strict: false });
    const read = reader.read.bind(reader);
    let calls = 0;
    jest.spyOn(reader, 'read').mockImplementation(async (step) => {
      calls += 1;
      if (calls !== parts + 1) return read({ ...step, replyLimit: PART });
      await app.product();
      await service.watcher.caughtUp();
      throw new mongoose.mongo.MongoServerError({ message: 'snapshot too old', code: 239 });
    });
  }

  const ask = (listed: Record<string, string> = {}) =>
    app.get('product/default/digest', { query: { to, ...listed } });

  it('one whose moment has gone before it was begun is of a later one', async () => {
    goneBehind(0);
    expect((await ask()).json).toMatchObject({ to, count: COUNT });
  });

  it('one that has lost its moment fails, and nothing keeps the next one from being made', async () => {
    goneBehind(1);
    const answer = await ask();
    expectProblem(answer, 503, 'query-timeout');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask()).json).toMatchObject({ to, count: COUNT });
  });

  it('it breaks off where the answer has begun', async () => {
    goneBehind(1);
    await expect(ask({ buckets: '1', bucket: '0' })).rejects.toThrow();
  });
});
