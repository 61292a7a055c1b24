import { getConnectionToken } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { isMomentGone, readAsOf } from '../../src/platform/database/index.js';
import { Quarantine } from '../../src/replication/store/index.js';
import { BatchReader } from '../../src/replication/feed/index.js';
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

describe('a change that the ledger refuses, at a moment that the server does not hold any more', () => {
  const ledgerTakes = (validator: object) => service.db.command({ collMod: 'tidemark.ledger', validator });
  const products = () => service.db.collection('products');
  const deletes = async (of: TestApplication) =>
    (await of.hardDeletes('product').drain({ to: await of.max('product') })).map(({ id }) => id);

  afterEach(async () => {
    jest.restoreAllMocks();
    await setting(300);
    await ledgerTakes({});
  });

  /** While the watcher is at the change, the server forgets its moment, and the record is changed once more. */
  async function changedMeanwhile(_id: mongo.ObjectId, changes: object[]): Promise<void> {
    const quarantine = service.app.get(Quarantine, { strict: false });
    const withoutFollowing = quarantine.withoutFollowing.bind(quarantine);
    let moment: mongo.Timestamp | undefined;
    jest.spyOn(quarantine, 'withoutFollowing').mockImplementation(async (events) => {
      const change = events.find(
        (event) => event.type === 'written' && _id.equals(event.owner as mongo.ObjectId),
      );
      if (moment === undefined && change !== undefined) {
        moment = change.at;
        for (const $set of changes.slice(1)) await products().updateOne({ _id }, { $set });
        await setting(1);
        await eventually(() => isForgotten(change.at));
      }
      return withoutFollowing(events);
    });
    await products().updateOne({ _id }, { $set: changes[0]! });
    await eventually(() => moment !== undefined);
    await service.watcher.caughtUp();
  }

  /** The record changes again and again, and the server has forgotten each moment when the watcher comes to it. */
  async function changedInTurn(_id: mongo.ObjectId, changes: object[]): Promise<void> {
    const quarantine = service.app.get(Quarantine, { strict: false });
    const withoutFollowing = quarantine.withoutFollowing.bind(quarantine);
    let met = 0;
    const spy = jest.spyOn(quarantine, 'withoutFollowing').mockImplementation(async (events) => {
      const own = events.filter(({ type, ...event }) => type === 'written' && _id.equals(ownerOf(event)));
      if (own.length > 0) await setting(1);
      for (const { at } of own) await eventually(() => isForgotten(at));
      met += own.length;
      return withoutFollowing(events);
    });
    for (const [index, $set] of changes.entries()) {
      await products().updateOne({ _id }, { $set });
      await eventually(() => met > index);
      await service.watcher.caughtUp();
    }
    spy.mockRestore();
  }

  const ownerOf = (event: object) => (event as { owner: mongo.ObjectId }).owner;

  async function isForgotten(at: mongo.Timestamp): Promise<boolean> {
    await service.db.collection('others').insertOne({});
    const look = readAsOf(service.client, at, (snapshot) => products().findOne({}, snapshot));
    return look.then(() => false, isMomentGone);
  }

  async function released(): Promise<void> {
    await setting(300);
    await ledgerTakes({});
    await eventually(async () => (await service.db.collection('tidemark.quarantine').countDocuments()) === 0);
    await service.watcher.caughtUp();
  }

  it.each([
    ['renamed', [{ id: 'y' }, { id: 'z' }], 'y'],
    ['renamed twice', [{ id: 'y' }, { id: 'y2' }, { id: 'z' }], 'y2'],
  ])('the record was %s since: what it was in between is a hard delete', async (_what, changes, between) => {
    const own = await service.application();
    const { _id } = await own.product({ id: 'x' });
    await service.watcher.caughtUp();
    await ledgerTakes({ id: { $not: { $regex: '^[yz]' } } });
    await changedMeanwhile(_id, changes);
    await released();
    expect(await deletes(own)).toEqual(expect.arrayContaining(['x', between]));
  });

  it('the record was moved to another application, and renamed there: it is a hard delete of both', async () => {
    const [own, other] = [await service.application(), await service.application()];
    const { _id } = await own.product({ id: 'y' });
    await service.watcher.caughtUp();
    await ledgerTakes({ $nor: [{ ...other.tenant, id: { $regex: '^[yz]' } }] });
    await changedMeanwhile(_id, [other.tenant, { id: 'z' }]);
    await released();
    expect(await deletes(own)).toEqual(['y']);
    expect(await deletes(other)).toContain('y');
  });

  it('the record was moved out of every application, renamed there, and moved back: it is a hard delete', async () => {
    const own = await service.application();
    const { _id } = await own.product({ id: 'x' });
    await service.watcher.caughtUp();
    await ledgerTakes({ id: { $not: { $regex: '^[yz]' } } });
    await changedInTurn(_id, [{ id: 'y' }, { appid: 5, id: 'z' }, { appid: own.appid }, { id: 'w' }]);
    await released();
    expect((await deletes(own)).sort()).toEqual(['x', 'y', 'z']);
  });

  it('the server forgets the moment after the watcher has read the record as of it: that read counts', async () => {
    const own = await service.application();
    const { _id } = await own.product({ id: 'x' });
    await service.watcher.caughtUp();
    // As an interrupted batch would leave it.
    await service.db.collection('tidemark.ledger').deleteOne({ ...own.tenant, id: 'x' });
    await ledgerTakes({ id: { $not: { $regex: '^[yz]' } } });
    const quarantine = service.app.get(Quarantine, { strict: false });
    const setAsideEvents = quarantine.setAsideEvents.bind(quarantine);
    const spy = jest.spyOn(quarantine, 'setAsideEvents').mockImplementationOnce(async (events, error) => {
      await products().deleteOne({ _id });
      await setting(1);
      for (const event of events) if (event.type === 'written') await eventually(() => isForgotten(event.at));
      return setAsideEvents(events, error);
    });
    await products().updateOne({ _id }, { $set: { id: 'y' } });
    await eventually(() => Promise.resolve(spy.mock.calls.length > 0));
    await service.watcher.caughtUp();
    await released();
    expect(await deletes(own)).toEqual(['y']);
  });

  it('a late write of a term that was given up hides nothing of what was set aside since', async () => {
    const [own, other] = [await service.application(), await service.application()];
    const { _id } = await own.product({ id: 'x' });
    await service.watcher.caughtUp();
    await ledgerTakes({ id: { $not: { $regex: '^[yz]' } } });
    const entries = service.app
      .get<Connection>(getConnectionToken(), { strict: false })
      .collection('tidemark.quarantine');
    const write = jest.spyOn(entries, 'bulkWrite');
    await changedInTurn(_id, [{ id: 'y' }]);
    const [late] = write.mock.calls;
    await changedInTurn(_id, [other.tenant]);
    await entries.bulkWrite(...late!);
    await changedInTurn(_id, [{ id: 'z' }]);
    await products().deleteOne({ _id });
    await released();
    expect((await deletes(other)).sort()).toEqual(['y', 'z']);
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
