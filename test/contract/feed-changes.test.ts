import type { Kind } from '../../src/kinds/index.js';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import {
  expectProblem,
  KINDS_AND_WARES,
  type Stored,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { type ChangeItem, changesOf, drained, type AnsweredChanges } from './changes-feed.js';
import { queriesOf, sumOf } from './queries.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
beforeEach(async () => {
  app = await service.application();
  for (const kind of KINDS_AND_WARES) await app.filter(kind, 'bikes', { 'data.category': 'bikes' });
});
afterAll(() => service.stop());

const bike = (id: string) => ({ id, data: { category: 'bikes' }, channels: ['web'] });
const tent = (id: string) => ({ id, data: { category: 'tents' }, channels: ['shop'] });
const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

/** Three that match, two that do not, and two that are gone. */
async function filled(kind: Kind): Promise<Stored[]> {
  const all: Stored[] = [];
  for (const id of ['b1', 'b2', 'b3', 'gone1']) all.push(await app.put(kind, bike(id)));
  for (const id of ['t1', 't2', 'gone2']) all.push(await app.put(kind, tent(id)));
  await service.watcher.caughtUp();
  await app.remove(kind, all[3]!);
  await app.remove(kind, all[6]!);
  return all;
}

const told = (changes: ChangeItem[]) => changes.map(({ id, op, reason }) => [id, reason ?? op]);

describe.each(KINDS_AND_WARES)('changes of a service (%s)', (kind) => {
  it('tells what the three feeds tell of the same window, each id once', async () => {
    const [first] = await filled(kind);
    const bounds = [{}, { from: first!['lastupdated'] as Date }];
    const to = await app.max(kind);
    for (const window of bounds) {
      const asked = { ...window, to };
      const updates = await app.feed(kind, 'bikes').drain(asked);
      const left = await app.softDeletes(kind, 'bikes').drain(asked);
      const gone = await app.hardDeletes(kind).drain(asked);
      const ended = (reason: string) => (item: { id: string; lastUpdated?: string }) => ({
        ...{ op: 'delete', id: item.id, lastupdated: item.lastUpdated, reason },
      });
      const expected = [
        ...updates.map((item) => ({ op: 'upsert', ...item })),
        ...left.map(ended('left')),
        ...gone.map(ended('gone')),
      ];
      expect(gone.length).toBeGreaterThan(0);
      for (const limit of [1, 2, 3, 7, 1000])
        expect(await drained(app, `${kind}/bikes`, { ...asked, limit })).toEqual(expected);
    }
  });

  it('with deletes=skip a first harvest tells only what matches, and the next one everything', async () => {
    const [b1] = await filled(kind);
    const page = await changesOf(app, `${kind}/bikes`, { deletes: 'skip', limit: 2 });
    const rest = await changesOf(app, `${kind}/bikes`, { cursor: page.cursor });
    expect(told([...page.result, ...rest.result])).toEqual(['b1', 'b2', 'b3'].map((id) => [id, 'upsert']));
    await app.remove(kind, b1!);
    const next = await changesOf(app, `${kind}/bikes`, { cursor: rest.cursor });
    expect(told(next.result)).toEqual([['b1', 'gone']]);
  });

  it('default, which filters nothing, has nothing that left', async () => {
    await filled(kind);
    const changes = (await changesOf(app, `${kind}/default`)).result;
    expect(told(changes).map(([, how]) => how)).toEqual([...Array<string>(5).fill('upsert'), 'gone', 'gone']);
  });
});

it('changes of a channel tell the same of the channel', async () => {
  await filled('product');
  const changes = (await changesOf(app, 'productbychannel/web')).result;
  expect(told(changes.sort(byId))).toEqual([
    ...['b1', 'b2', 'b3'].map((id) => [id, 'upsert']),
    ...['gone1', 'gone2'].map((id) => [id, 'gone']),
    ...['t1', 't2'].map((id) => [id, 'left']),
  ]);
});

describe('where a page leads', () => {
  beforeEach(() => filled('product'));

  it('the last page has an empty nextoffsetid, no next, and a cursor to the next window', async () => {
    const page = await changesOf(app, 'product/bikes');
    expect(page).toMatchObject({ nextoffsetid: '', to: page.tidemarkTo });
    expect(page).not.toHaveProperty('next');
    const after = await changesOf(app, 'product/bikes', { cursor: page.cursor });
    expect(after).toMatchObject({ result: [], nextoffsetid: '' });
    expect(after.to >= page.to).toBe(true);
  });

  it('whoever follows next, exactly as it is, comes to the end of one window', async () => {
    const whole = (await changesOf(app, 'product/bikes')).result;
    let page: AnsweredChanges = await changesOf(app, 'product/bikes', { limit: 2 });
    const seen = [...page.result];
    const { to } = page;
    while (page.next !== undefined) {
      const answer = await app.getUrl(new URL(page.next, app.urlOf('api/v1/product/bikes/changes')).href);
      page = answer.json as AnsweredChanges;
      expect(page.to).toBe(to);
      seen.push(...page.result);
    }
    expect(seen).toEqual(whole);
  });

  it('a tool that repeats its first parameters beside nextoffsetid stays in its window while others write', async () => {
    const asked = { to: '9999-01-01', limit: 2 };
    let page = await changesOf(app, 'product/bikes', asked);
    const { to } = page;
    const seen = [...page.result];
    for (let count = 0; page.nextoffsetid !== ''; count += 1) {
      await app.product(bike(`new${count}`));
      page = await changesOf(app, 'product/bikes', { ...asked, lastoffsetid: page.nextoffsetid });
      expect(page.to).toBe(to);
      seen.push(...page.result);
    }
    expect(told(seen.sort(byId)).map(([id]) => id)).toEqual(['b1', 'b2', 'b3', 'gone1', 'gone2', 't1', 't2']);
  });

  it('a cursor alone goes on through windows, and nothing is lost between them', async () => {
    const copy = new Map<string, ChangeItem>();
    const first = await changesOf(app, 'product/bikes', { limit: 1 });
    for (const change of first.result) copy.set(change.id, change);
    let { cursor } = first;
    await app.product(bike('b4'));
    for (let ended = 0; ended < 2;) {
      const page = await changesOf(app, 'product/bikes', { cursor, limit: 2 });
      for (const change of page.result) copy.set(change.id, change);
      if (page.next === undefined) ended += 1;
      cursor = page.cursor;
    }
    const alive = [...copy.values()].filter(({ op }) => op === 'upsert').map(({ id }) => id);
    expect(alive.sort()).toEqual(['b1', 'b2', 'b3', 'b4']);
  });

  it('from >= to is no error: an empty page, whose cursor never goes back', async () => {
    const { to } = await changesOf(app, 'product/bikes');
    const page = await changesOf(app, 'product/bikes', { from: to, to: '2020-01-01' });
    expect(page).toMatchObject({ result: [], nextoffsetid: '', to: '2020-01-01T00:00:00.000Z' });
    expect((await changesOf(app, 'product/bikes', { cursor: page.cursor })).result).toEqual([]);
  });
});

it('a record that changes sides tells so in the next window', async () => {
  const record = await app.product(bike('b'));
  const first = await changesOf(app, 'product/bikes');
  await app.change('product', record, { $set: { 'data.category': 'tents' } });
  await service.watcher.caughtUp();
  const second = await changesOf(app, 'product/bikes', { cursor: first.cursor });
  await app.remove('product', record);
  const third = await changesOf(app, 'product/bikes', { cursor: second.cursor });
  expect([first, second, third].map(({ result }) => told(result))).toEqual([
    [['b', 'upsert']],
    [['b', 'left']],
    [['b', 'gone']],
  ]);
});

describe('what is wrong', () => {
  const ask = (path: string, query: Record<string, string> = {}) => app.get(path, { query });

  it('a cursor of another feed', async () => {
    const { cursor } = await changesOf(app, 'product/bikes');
    for (const path of ['product/default/changes', 'member/bikes/changes']) {
      const answer = await ask(path, { cursor });
      expectProblem(answer, 400, 'invalid-request');
      expect(answer.text).toContain('is a cursor of another feed');
    }
  });

  it('the nextoffsetid of a feed', async () => {
    const lastoffsetid = '6740a1b2c3d4e5f601234567';
    expectProblem(await ask('product/bikes/changes', { lastoffsetid }), 400, 'invalid-request');
  });

  it('a nextoffsetid of another window, whose `to` was an earlier one', async () => {
    for (const id of ['b1', 'b2']) await app.product(bike(id));
    const to = await app.max('product');
    const { nextoffsetid: lastoffsetid } = await changesOf(app, 'product/bikes', { to, limit: 1 });
    const later = { to: new Date(to.getTime() + 1).toISOString(), lastoffsetid };
    expectProblem(await ask('product/bikes/changes', later), 400, 'invalid-request');
  });

  it('an unknown service, and an unknown channel', async () => {
    expectProblem(await ask('product/unknown/changes'), 404, 'unknown-service');
    expectProblem(await ask('productbychannel/unknown/changes'), 404, 'unknown-channel');
  });

  it('a filter that is invalid', async () => {
    await app.filter('product', 'broken', { $where: '1' });
    expectProblem(await ask('product/broken/changes'), 500, 'service-misconfigured');
  });

  it('hard deletes that are not kept any more are told of on every page of the window', async () => {
    for (const id of ['b1', 'b2']) await app.product(bike(id));
    await service.watcher.caughtUp();
    const from = '2023-01-01';
    const first = await changesOf(app, 'product/bikes', { from, limit: 1 });
    const _id = { ...app.tenant, kind: 'product' };
    const horizons = service.db.collection<{ _id: object; lastupdated: Date }>('tidemark.horizons');
    await horizons.insertOne({ _id, lastupdated: new Date('2024-01-01') });
    for (const query of [
      { from, limit: '1' },
      { cursor: first.cursor, limit: '1' },
    ])
      expectProblem(await ask('product/bikes/changes', query), 410, 'history-expired');
    expect((await changesOf(app, 'product/bikes', { from: '2024-01-01' })).result).toHaveLength(2);
    expect((await changesOf(app, 'product/bikes')).result).toHaveLength(2);
  });
});

it('costs what the three feeds cost', async () => {
  await app.products(300, (index) => (index % 3 === 0 ? bike(`b${index}`) : tent(`t${index}`)));
  await service.watcher.caughtUp();
  await service.db.collection('products').deleteMany({ ...app.tenant, id: { $regex: '0$' } });
  await service.watcher.caughtUp();
  const window = { from: '2020-01-01', to: await app.max('product'), limit: 100 };
  const inThree = async () => [
    ...(await app.feed('product', 'bikes').drain(window)),
    ...(await app.softDeletes('product', 'bikes').drain(window)),
    ...(await app.hardDeletes('product').drain(window)),
  ];
  await inThree();
  const ofThree = await queriesOf(service, inThree);
  const ofChanges = await queriesOf(service, () => drained(app, 'product/bikes', window));
  expect(sumOf(ofChanges, 'docsExamined')).toBeLessThanOrEqual(sumOf(ofThree, 'docsExamined'));
  expect(sumOf(ofChanges, 'keysExamined')).toBeLessThanOrEqual(sumOf(ofThree, 'keysExamined'));
});

it('whoever harvests changes is a consumer like others', async () => {
  await filled('product');
  await drained(app, 'product/bikes', { limit: 2 });
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const consumers = await service.db.collection('tidemark.consumers').find().toArray();
  const ours = consumers.filter(({ _id }) => (_id as unknown as { appid: string }).appid === app.appid);
  expect(ours).toEqual([
    expect.objectContaining({ items: 7, errors: 0, harvests: 1, ended: expect.objectContaining({}) }),
  ]);
});
