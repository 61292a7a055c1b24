/** @depends-on-server */
import { mongo } from 'mongoose';
import { eventually, send, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';

/** Longer than the file takes, so that nothing arrives just because the clock has caught up. */
const AHEAD_S = 600;
const FAR = '9999-01-01T00:00:00.000Z';

/** A server of the file's own: its cluster time concerns everything on it. */
let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  mongod = await startOwn();
  const client = await new mongo.MongoClient(mongod.uri, { writeConcern: { w: 'majority' } }).connect();
  service = await TestService.startOn({ uri: mongod.uri, client, db: client.db() });
  await setClockBack();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

/** Leaves the server as one whose clock was ahead and has been corrected: its cluster time lies ahead of the clock. */
async function setClockBack(): Promise<void> {
  const client = new mongo.MongoClient(mongod.uri);
  await client.withSession(async (session) => {
    const t = Math.floor(Date.now() / 1000) + AHEAD_S;
    const signature = { hash: new mongo.Binary(Buffer.alloc(20)), keyId: mongo.Long.fromNumber(0) };
    session.advanceClusterTime({ clusterTime: new mongo.Timestamp({ t, i: 1 }), signature });
    await client.db('elsewhere').collection('any').insertOne({}, { session });
  });
  await client.close();
}

/** What `max` answers once a change is in it: an answer from memory may be older, which is late but safe. */
async function maxAfter(from: Date): Promise<Date> {
  await service.watcher.caughtUp();
  await eventually(async () => (await app.max('product')) > from);
  return app.max('product');
}

const ids = ['a', 'b', 'c'];

it('each change arrives by max, though the clock does not move', async () => {
  let from = await app.max('product');
  for (const id of ids) {
    await app.product({ id });
    const to = await maxAfter(from);
    expect((await app.feed('product').page({ from, to })).ids).toEqual([id]);
    from = to;
  }
  await service.db.collection('products').deleteOne({ ...app.tenant, id: 'a' });
  const gone = await app.hardDeletes('product').page({ from, to: await maxAfter(from) });
  expect(gone.ids).toEqual(['a']);
});

it('each change arrives by a `to` far ahead: Tidemark-To is a safe `from`', async () => {
  let from = (await app.feed('product').page({ to: FAR })).to;
  for (const id of ids) {
    await app.product({ id });
    await service.watcher.caughtUp();
    const page = await app.feed('product').page({ from, to: FAR });
    expect(page.ids).toEqual([id]);
    from = page.to;
  }
  expect((await app.feed('product').page({ from, to: FAR })).ids).toEqual([]);
});

it('a member that is changed again and again is delivered each time', async () => {
  await app.put('member', { id: 'm' });
  let from = await app.max('member');
  for (const id of ids) {
    await service.db
      .collection('members')
      .updateOne(
        { ...app.tenant, id: 'm' },
        { $set: { contactname: id }, $currentDate: { lastupdated: true } },
      );
    await service.watcher.caughtUp();
    const to = await app.max('member');
    const { items } = await app.feed('member').page({ from, to });
    expect(items.map(({ id: of }) => of)).toEqual(['m']);
    from = to;
  }
});

it('readiness, status and a metric tell how far the clock is behind', async () => {
  const { json } = await send(`${service.url}/health/ready`, 'GET', {});
  const { replication } = (json as { details: { replication: Record<string, unknown> } }).details;
  expect(replication['clockBehindSeconds']).toBeGreaterThan(AHEAD_S / 2);
  expect(await service.presentMetric('tidemark_clock_behind_seconds')).toBeGreaterThan(AHEAD_S / 2);
  expect(replication).toMatchObject({ status: 'up' });
  await eventually(async () => (await service.presentMetric('tidemark_watcher_lag_seconds')) < AHEAD_S / 2);
});
