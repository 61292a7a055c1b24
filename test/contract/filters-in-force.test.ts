import type { mongo } from 'mongoose';
import { MarkRaiser, Moments } from '../../src/replication/store/index.js';
import { Restamps } from '../../src/replication/watcher/index.js';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { type AnsweredChanges, changesOf } from './changes-feed.js';

let service: TestService;
let other: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  other = await service.another();
});
beforeEach(async () => {
  app = await service.application();
  for (const n of [1, 2, 3]) await app.put('product', { id: `p${n}`, data: { n } });
  await app.filter('product', 'few', { 'data.n': { $lte: 1 } });
});
afterAll(async () => {
  await other.leave();
  await service.stop();
});

const services = () => service.db.collection('services');
const own = () => ({ ...app.tenant, name: 'few' });
const restamped = () => service.metric('tidemark_restamps_total{reason="filter"}');

/** An operator does something to the service; waits until it is in force. */
async function edited(work: () => Promise<unknown>): Promise<void> {
  await work();
  await service.watcher.caughtUp();
}

const set = (fields: mongo.Document) => edited(() => services().updateOne(own(), { $set: fields }));

/** What a consumer gets of what came behind `from`: updates, then soft deletes. */
async function harvest(from: Date, seenBy = app): Promise<[string[], string[]]> {
  const to = await seenBy.max('product');
  const [updates, gone] = [seenBy.feed('product', 'few'), seenBy.softDeletes('product', 'few')];
  const ids = (await updates.drain({ from, to })).map(({ id }) => id);
  return [ids, (await gone.drain({ from, to })).map(({ id }) => id)];
}

describe('an edited filter: what the old and the new one judge differently is delivered, nothing else', () => {
  it.each<[string, mongo.Document, string[], string[]]>([
    ['wider', { $lte: 2 }, ['p2'], []],
    ['narrower', { $lte: 0 }, [], ['p1']],
    ['another', { $eq: 3 }, ['p3'], ['p1']],
    ['the same in other words', { $lt: 2 }, [], []],
  ])('%s', async (_name, condition, updates, softDeletes) => {
    const from = await app.max('product');
    const before = (await restamped()) || 0;
    await set({ filter: { 'data.n': condition } });
    expect(await harvest(from)).toEqual([updates, softDeletes]);
    const moved = updates.length + softDeletes.length;
    expect(((await restamped()) || 0) - before).toBe(moved);
  });

  it('there and back again', async () => {
    const from = await app.max('product');
    await set({ filter: { 'data.n': 3 } });
    await set({ filter: { 'data.n': { $lte: 1 } } });
    expect(await harvest(from)).toEqual([['p1'], ['p3']]);
  });

  it('in all instances at the same moment', async () => {
    const from = await app.max('product');
    await set({ filter: { 'data.n': 3 } });
    const elsewhere = app.seenBy(other);
    expect(await harvest(from, elsewhere)).toEqual([['p3'], ['p1']]);
    expect(await harvest(from)).toEqual([['p3'], ['p1']]);
  });

  it('only once the watcher has seen it', async () => {
    const to = await app.max('product');
    await withoutWatcher([service, other], async () => {
      await services().updateOne(own(), { $set: { filter: { 'data.n': 3 } } });
      expect((await app.feed('product', 'few').page({ to })).ids).toEqual(['p1']);
    });
    await service.watcher.caughtUp();
    expect((await app.feed('product', 'few').page()).ids).toEqual(['p3']);
  });
});

describe('a service that is removed, disabled or made invalid keeps its last filter', () => {
  const back = { kind: 'product', filter: { 'data.n': 3 } };

  it('removed and made again with another filter', async () => {
    const from = await app.max('product');
    await edited(() => services().deleteOne(own()));
    expectProblem(await app.feed('product', 'few').ask(), 404, 'unknown-service');
    await edited(() => services().insertOne({ ...own(), ...back }));
    expect(await harvest(from)).toEqual([['p3'], ['p1']]);
  });

  it('disabled, and enabled with another filter', async () => {
    const from = await app.max('product');
    await set({ enabled: false });
    expectProblem(await app.feed('product', 'few').ask(), 404, 'unknown-service');
    await set({ ...back, enabled: true });
    expect(await harvest(from)).toEqual([['p3'], ['p1']]);
  });

  it.each<[string, mongo.Document]>([
    ['by contract §4', { $where: 'true' }],
    ['by MongoDB', { id: { $regex: '(' } }],
  ])('made invalid %s: 500, also for an empty window; and repaired with another', async (_name, filter) => {
    const from = await app.max('product');
    await set({ filter });
    for (const window of [{ to: '2026-01-01' }, { to: '2025-01-01', from: '2025-01-01' }])
      expectProblem(await app.feed('product', 'few').ask(window), 500, 'service-misconfigured');
    await set(back);
    expect(await harvest(from)).toEqual([['p3'], ['p1']]);
  });

  it('a name never served before moves nothing', async () => {
    const before = (await restamped()) || 0;
    await app.filter('product', 'fresh', { 'data.n': 2 });
    expect((await restamped()) || 0).toBe(before);
    expect((await app.feed('product', 'fresh').page()).ids).toEqual(['p2']);
  });
});

it('an edit that a crash cut in two is finished by the next leader', async () => {
  const from = await app.max('product');
  await withoutWatcher([service, other], async () => {
    const [filter, previous] = [{ 'data.n': 3 }, { 'data.n': { $lte: 1 } }];
    await services().updateOne(own(), { $set: { filter } });
    await service.db
      .collection('tidemark.filterversions')
      .updateOne(own(), { $set: { filter, previous, pending: true }, $inc: { version: 1 } });
  });
  await service.watcher.caughtUp();
  expect(await harvest(from)).toEqual([['p3'], ['p1']]);
});

it('a page that was begun before an edit and shows a moment after it is judged by the filter of then', async () => {
  await app.feed('product', 'few').page();
  const from = await app.max('product');
  const moments = service.app.get(Moments, { strict: false });
  const serving = moments.serving.bind(moments);
  let reach: () => void;
  let release: () => void;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const held = new Promise<void>((resolve) => (release = resolve));
  moments.serving = async (...wish) => {
    reach();
    await held;
    return serving(...wish);
  };
  const page = app.feed('product', 'few').page({ from });
  await reached;
  await set({ filter: { 'data.n': 3 } });
  moments.serving = serving;
  release!();
  expect((await page).ids).toEqual(['p3']);
});

describe('a moment between the writing of a filter and the last stamp for it', () => {
  const raises = () =>
    service.db
      .collection('tidemark.marks')
      .find({ '_id.appid': app.appid })
      .map((mark) => mark['raises'] as number)
      .toArray();

  /** Whoever leads raises the mark when the new filter is written and nothing is stamped yet. */
  function raisedBeforeStamps(): () => number {
    let raised = 0;
    for (const one of [service, other]) {
      const restamps = one.app.get(Restamps, { strict: false });
      const raiser = one.app.get(MarkRaiser, { strict: false });
      const records = restamps.records.bind(restamps);
      jest.spyOn(restamps, 'records').mockImplementation(async (...asked) => {
        const before = await raises();
        void raiser.passed({ ...app.tenant, kind: 'product' }, 1);
        await eventually(async () => String(await raises()) !== String(before));
        raised += 1;
        return records(...asked);
      });
    }
    return () => raised;
  }

  afterEach(() => jest.restoreAllMocks());

  it('is not shown: a window of changes that was begun before tells each id once', async () => {
    const told: string[] = [];
    const note = ({ result }: AnsweredChanges) => result.forEach(({ id }) => told.push(id));
    let page: AnsweredChanges = await changesOf(app, 'product/few', { limit: 1 });
    const { to } = page;
    note(page);
    const raised = raisedBeforeStamps();
    await set({ filter: { 'data.n': { $gte: 2 } } });
    expect(raised()).toBe(1);
    while (page.next !== undefined) {
      page = await changesOf(app, 'product/few', { cursor: page.cursor, limit: 1 });
      expect(page.to).toBe(to);
      note(page);
    }
    expect(told).toEqual(['p1']);
    const next = await changesOf(app, 'product/few', { cursor: page.cursor });
    expect(next.result.map(({ id, op }) => `${op} ${id}`).sort()).toEqual([
      'delete p1',
      'upsert p2',
      'upsert p3',
    ]);
  });
});
