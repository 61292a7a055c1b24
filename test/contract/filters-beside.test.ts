import { mongo } from 'mongoose';
import { EditedRecords, Restamps } from '../../src/replication/watcher/index.js';
import { UnwatchedFeeds, WatchedPlace } from '../../src/replication/store/index.js';
import {
  type Answer,
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;
let neighbour: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ MARK_WAIT: '1500' });
});
beforeEach(async () => {
  app = await service.application();
  neighbour = await service.application();
  for (const n of [1, 2, 3]) await app.put('product', { id: `p${n}`, data: { n } });
  await app.filter('product', 'few', { 'data.n': { $lte: 1 } });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

interface Entry {
  pending: boolean;
  version: number;
  pendingSince?: Date;
  stamping?: { done?: number; total?: number; pace?: object; failures?: number };
}

const own = () => ({ ...app.tenant, name: 'few' });
const edit = (filter: mongo.Document) =>
  service.db.collection('services').updateOne(own(), { $set: { filter } });
const entry = () => service.db.collection<Entry>('tidemark.filterversions').findOne(own());
const isPending = async () => (await entry())?.pending === true;

function resultOf({ status, json }: Answer): { id: string }[] {
  expect(status).toBe(200);
  return (json as { result: { id: string }[] }).result;
}

/** Keeps back the stamps for edited filters until released; answers what was stamped for and how to release. */
function heldStamps(of: TestService) {
  const restamps = of.app.get(Restamps, { strict: false });
  const records = restamps.records.bind(restamps);
  const begun: (string | undefined)[] = [];
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  jest.spyOn(restamps, 'records').mockImplementation(async (...asked) => {
    begun.push(asked[4]?.appid);
    await released;
    return records(...asked);
  });
  return { begun, release };
}

describe('while the records of an edited filter are being stamped', () => {
  it('changes of others, and feeds of the application without that filter, are delivered', async () => {
    const { release } = heldStamps(service);
    const from = await neighbour.max('product');
    await edit({ 'data.n': 3 });
    await eventually(isPending);
    await neighbour.put('product', { id: 'fresh' });
    await app.put('product', { id: 'fresh', data: { n: 9 } });
    expect((await neighbour.feed('product').page({ from })).ids).toEqual(['fresh']);
    expect((await app.feed('product').page({ from })).ids).toContain('fresh');
    expect(await isPending()).toBe(true);
    release();
    await service.watcher.caughtUp();
  });

  it('its own feeds answer 503, which names it, and the new filter after the last stamp', async () => {
    const { release } = heldStamps(service);
    const from = await app.max('product');
    await edit({ 'data.n': 3 });
    await eventually(isPending);
    await app.put('product', { id: 'fresh', data: { n: 3 } });
    const to = await app.max('product');
    const window = { from: from.toISOString(), to: to.toISOString() };
    const refused = await app.feed('product', 'few').ask(window);
    expect(expectProblem(refused, 503, 'not-watched').detail).toContain(
      'The product service "few" was edited',
    );
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expectProblem(await app.feed('product', 'few').ask(window), 503, 'not-watched');
    expect(service.app.get(UnwatchedFeeds, { strict: false }).seconds).toBe(0);
    release();
    await service.watcher.caughtUp();
    const after = await app.max('product');
    expect((await app.feed('product', 'few').page({ from, to: after })).ids.sort()).toEqual(['fresh', 'p3']);
    expect((await app.softDeletes('product', 'few').page({ from, to: after })).ids).toEqual(['p1']);
  });

  it('a page of its own feeds waits for the last stamp', async () => {
    const { release } = heldStamps(service);
    await edit({ 'data.n': 3 });
    await eventually(isPending);
    const asked = app.feed('product', 'few').ask();
    setTimeout(release, 200);
    expect(resultOf(await asked).map(({ id }) => id)).toEqual(['p3']);
  });

  it('a further edit comes into force by the write that ends the stamping', async () => {
    const { begun, release } = heldStamps(service);
    const from = await app.max('product');
    await edit({ 'data.n': 3 });
    await eventually(() => begun.length > 0);
    const { version } = (await entry())!;
    await edit({ 'data.n': 2 });
    await service.watcher.heard();
    release();
    await service.watcher.caughtUp();
    expect((await entry())!.version).toBe(version + 1);
    const to = await app.max('product');
    expect((await app.feed('product', 'few').page({ from, to })).ids).toEqual(['p2']);
    expect((await app.softDeletes('product', 'few').page({ from, to })).ids.sort()).toEqual(['p1', 'p3']);
  });

  it('the stream is waited for after each 1,000 stamps', async () => {
    const many = Array.from({ length: 2500 }, (_, n) => ({
      ...{ ...app.tenant, id: `many-${n}`, type: 'product', lastupdated: new Date(), data: { n: 9 } },
    }));
    await service.db.collection('products').insertMany(many);
    await service.watcher.caughtUp();
    const did: (number | string)[] = [];
    const restamps = service.app.get(Restamps, { strict: false });
    const records = restamps.records.bind(restamps);
    jest.spyOn(restamps, 'records').mockImplementation((...asked) => {
      did.push(asked[1].length);
      return records(...asked);
    });
    const watched = service.app.get(WatchedPlace, { strict: false });
    const reached = watched.reached.bind(watched);
    jest.spyOn(watched, 'reached').mockImplementation(async (...asked) => {
      const isReached = await reached(...asked);
      did.push('waited');
      return isReached;
    });
    await edit({ 'data.n': 9 });
    await eventually(async () => did.length >= 5 && !(await isPending()));
    expect(did).toEqual([1000, 'waited', 1000, 'waited', 501]);
  });

  it('it is told how many records are looked through, until all are stamped', async () => {
    const records = service.app.get(EditedRecords, { strict: false });
    Object.assign(records, { saveMs: 0 });
    const many = Array.from({ length: 1500 }, (_, n) => ({
      ...{ ...app.tenant, id: `many-${n}`, type: 'product', lastupdated: new Date(), data: { n: 9 } },
    }));
    await service.db.collection('products').insertMany(many);
    await service.watcher.caughtUp();
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const restamps = service.app.get(Restamps, { strict: false });
    const stamp = restamps.records.bind(restamps);
    jest.spyOn(restamps, 'records').mockImplementation(async (...asked) => {
      if (asked[1].length < 1000) await released;
      return stamp(...asked);
    });
    await edit({ 'data.n': 9 });
    await eventually(async () => (await entry())?.stamping !== undefined);
    const { stamping, pendingSince } = (await entry())!;
    // 1,501 are stamped anew, of which 1,000 are: as many of all 1,503.
    const pace = { seconds: expect.any(Number), done: 1001, added: 0 };
    expect(stamping).toEqual({ done: 1001, total: 1503, pace });
    expect(pendingSince).toBeInstanceOf(Date);
    release();
    await eventually(async () => !(await isPending()));
    expect(await entry()).not.toHaveProperty('stamping');
    expect(await entry()).not.toHaveProperty('pendingSince');
    Object.assign(records, { saveMs: 2000 });
  });

  it('each attempt that fails is counted, until one succeeds', async () => {
    const restamps = service.app.get(Restamps, { strict: false });
    // Of a right that is missing: it says nothing about the service, which is tried again after a second.
    const refused = new mongo.MongoServerError({ message: 'not authorized', code: 13 });
    const spied = jest.spyOn(restamps, 'records').mockRejectedValue(refused);
    await edit({ 'data.n': 3 });
    await eventually(async () => (await service.metric('tidemark_edit_failures')) >= 2);
    expect((await entry())!.stamping!.failures).toBeGreaterThanOrEqual(2);
    spied.mockRestore();
    // The service reads what a majority has: shortly after this test, which reads what the primary has.
    await eventually(async () => (await service.metric('tidemark_edit_failures')) === 0);
    expect(await isPending()).toBe(false);
    expect(await entry()).not.toHaveProperty('stamping');
  });

  it('one application does not keep another one from being stamped', async () => {
    await neighbour.put('product', { id: 'n3', data: { n: 3 } });
    await neighbour.filter('product', 'few', { 'data.n': 1 });
    const restamps = service.app.get(Restamps, { strict: false });
    const records = restamps.records.bind(restamps);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    jest.spyOn(restamps, 'records').mockImplementation(async (...asked) => {
      if (asked[4]?.appid === app.appid) await released;
      return records(...asked);
    });
    await edit({ 'data.n': 3 });
    await eventually(isPending);
    await service.db
      .collection('services')
      .updateOne({ ...neighbour.tenant, name: 'few' }, { $set: { filter: { 'data.n': 3 } } });
    await eventually(async () => {
      const answer = await neighbour.feed('product', 'few').ask();
      return answer.status === 200 && resultOf(answer)[0]?.id === 'n3';
    });
    expect(await isPending()).toBe(true);
    release();
    await service.watcher.caughtUp();
  });
});
