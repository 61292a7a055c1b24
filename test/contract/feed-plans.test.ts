import { type TestApplication, type TestFeed, TestService, WARE } from '../support/index.js';
import type { FeedWindow } from '../support/feed.js';
import { plansOf, type Query, queriesOf } from './queries.js';

const T = Date.parse('2025-01-01T00:00:00.000Z');
const COUNT = 400;
const LIMIT = 5;
const at = (second: number) => new Date(T + second * 1000);

const ALONG_ID = 'IXSCAN { organizationid: 1, appid: 1, _id: 1 }';
const ALONG_STAMP = 'IXSCAN { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 }';
const BY_ID = 'IXSCAN { organizationid: 1, appid: 1, id: 1 }';
const BY_CHANNEL = 'IXSCAN { organizationid: 1, appid: 1, channels: 1 }';
const ofWares = (plan: string) => plan.replace('lastupdated', 'updatedAt');
const ofTombstones = (plan: string) => plan.replace('appid: 1, ', 'appid: 1, kind: 1, ');

let service: TestService;
let app: TestApplication;

/** One record a second, each in a window of its own; all deleted once more under other ids. */
beforeAll(async () => {
  service = await TestService.withWares();
  app = await service.application();
  await app.products(COUNT, (n) => ({
    channels: n % 2 === 0 ? ['web'] : [],
    data: { n },
    lastupdated: at(n),
  }));
  for (const kind of ['member', WARE])
    await app.many(kind, COUNT, (n) => ({ data: { n }, lastupdated: at(n) }));
  for (const kind of ['product', WARE]) await app.filter(kind, 'half', { 'data.n': { $mod: [2, 0] } });
  const { db } = service;
  const gone = Array.from({ length: COUNT }, (_, n) => ({
    ...{ ...app.tenant, kind: 'product', id: `gone-${n}`, alive: false, lastupdated: at(n) },
  }));
  await db.collection('tidemark.ledger').insertMany(gone);
  await service.watcher.caughtUp();
});
afterAll(() => service.stop());

async function queriesOfPage(
  feed: TestFeed,
  window: FeedWindow,
  { limit = LIMIT, returns = limit }: { limit?: number; returns?: number } = {},
): Promise<Query[]> {
  let returned = 0;
  const queries = await queriesOf(service, async () => {
    returned = (await feed.page({ ...window, limit })).ids.length;
  });
  expect(returned).toBe(returns);
  for (const query of queries) expect(query.command['hint']).toBeDefined();
  return queries;
}

interface Feed {
  of: () => TestFeed;
  /** Queries that come before and behind those for items. */
  before?: string[];
  behind?: string[];
  plan?: (plan: string) => string;
  /** How much of a window it shows. */
  share?: number;
}

/** Hard deletes ask whether a record lives again under one of the ids; channels whether a product carries them. */
const FEEDS: [string, Feed][] = [
  ['updates of products', { of: () => app.feed('product') }],
  ['updates of members', { of: () => app.feed('member') }],
  ['updates of a service', { of: () => app.feed('product', 'half'), share: 0.5 }],
  ['updates of wares', { of: () => app.feed(WARE), plan: ofWares }],
  ['softdeletes of wares', { of: () => app.softDeletes(WARE, 'half'), plan: ofWares, share: 0.5 }],
  ['softdeletes', { of: () => app.softDeletes('product', 'half'), share: 0.5 }],
  ['channel updates', { of: () => app.channel('web'), before: [BY_CHANNEL], share: 0.5 }],
  ['channel softdeletes', { of: () => app.channel('web', 'softdeletes'), before: [BY_CHANNEL], share: 0.5 }],
  ['harddeletes', { of: () => app.hardDeletes('product'), behind: [BY_ID], plan: ofTombstones }],
];

/** Feeds share what is listed of a window, so each feed here has windows of its own. */
const own = FEEDS.map(([name, feed], index) => [name, feed, index] as const);
const windowOf = (index: number, first: number, count: number): FeedWindow => ({
  from: at(first),
  to: new Date(at(first + count).getTime() + index + 1),
});

describe('every feed query states its index, which the window decides (design §4)', () => {
  /** The plans of a page: the list that came before it, if any, then its items. */
  const plans = ({ before = [], behind = [], plan = (as) => as }: Feed, ...own: string[]) => [
    ...before,
    ...own.map(plan),
    ...behind,
  ];

  it.each(own)('%s without from: all, along _id', async (_name, feed) => {
    const queries = await queriesOfPage(feed.of(), { to: at(COUNT) });
    expect(plansOf(queries)).toEqual(plans(feed, ALONG_ID));
  });

  it.each(own.slice(0, -1))(
    '%s of a wide window: listed as far as it matters, then all',
    async (_name, feed, index) => {
      const wide = windowOf(index, 10, COUNT - 20);
      const queries = await queriesOfPage(feed.of(), wide);
      expect(plansOf(queries)).toEqual(plans(feed, ALONG_STAMP, ALONG_ID));
      expect(queries.at(-2)?.keysExamined).toBeLessThanOrEqual(0.6 * COUNT + 2);
      expect(plansOf(await queriesOfPage(feed.of(), wide))).toEqual(plans(feed, ALONG_ID));
    },
  );

  it.each(own)('%s of a part: listed once, then by the list', async (_name, feed, index) => {
    const part = windowOf(index, 100, 100);
    const queries = await queriesOfPage(feed.of(), part);
    const expected = plans(feed, ALONG_STAMP, ALONG_ID);
    expect(plansOf(queries).slice(0, expected.length)).toEqual(expected);
    expect(queries[feed.before?.length ?? 0]).toMatchObject({ nreturned: 100 });
    const again = plansOf(await queriesOfPage(feed.of(), part));
    expect(again).not.toContain((feed.plan ?? String)(ALONG_STAMP));
  });

  it.each(own)('%s of a narrow window: listed, then along lastupdated', async (_name, feed, index) => {
    const limit = 2 * LIMIT;
    const returns = limit * (feed.share ?? 1);
    const queries = await queriesOfPage(feed.of(), windowOf(index, 100, limit), { limit, returns });
    expect(plansOf(queries)).toEqual(plans(feed, ALONG_STAMP, ALONG_STAMP));
    expect(queries[(feed.before?.length ?? 0) + 1]?.keysExamined).toBeLessThanOrEqual(limit + 1);
  });

  it('the choice is told by a metric', async () => {
    const steps = async () =>
      Promise.all(
        ['all', 'id-list', 'one-page'].map((plan) =>
          service.metric(`tidemark_feed_steps_total{plan="${plan}"}`),
        ),
      );
    const before = await steps();
    await app.feed('product').page({ to: at(COUNT), limit: LIMIT });
    await app.feed('product').page({ from: at(0), to: at(50), limit: LIMIT });
    await app.feed('product').page({ from: at(0), to: at(50), limit: COUNT });
    expect((await steps()).map((count, index) => count - before[index]!)).toEqual([1, 1, 1]);
  });
});

describe('where a list has ever stood in place of a stamp, the index never forgets it', () => {
  it('a narrow window costs what it holds all the same', async () => {
    const { insertedId } = await service.db
      .collection('products')
      .insertOne({ ...app.tenant, lastupdated: [at(1)] });
    await service.watcher.caughtUp();
    await service.db.collection('products').deleteOne({ _id: insertedId });
    await service.watcher.caughtUp();
    const first = COUNT - 2 * LIMIT;
    const window = { from: at(first - 1), to: new Date(at(COUNT).getTime() + 100) };
    const queries = await queriesOfPage(app.feed('product'), window, {
      limit: 4 * LIMIT,
      returns: 2 * LIMIT,
    });
    for (const { keysExamined } of queries) expect(keysExamined).toBeLessThanOrEqual(2 * LIMIT + 2);
  });
});

describe('pages that cost the same at any size', () => {
  it('a page examines what it shows, wherever in the feed it lies', async () => {
    const everything = await app.feed('product').page({ limit: COUNT });
    const middle = everything.items[COUNT / 2]?.id;
    for (const lastoffsetid of ['', middle ?? '']) {
      const [page] = await queriesOfPage(app.feed('product'), { to: at(COUNT), lastoffsetid });
      expect([page?.keysExamined, page?.docsExamined]).toEqual([LIMIT, LIMIT]);
    }
  });

  it('no page is more than one query for its items', async () => {
    const queries = await queriesOfPage(app.feed('product'), { to: at(COUNT) }, { limit: 300 });
    expect(queries.map((query) => query.nreturned)).toEqual([300]);
  });

  it('an empty window asks for no records at all', async () => {
    expect(await queriesOf(service, () => app.feed('product').page({ from: at(5), to: at(5) }))).toEqual([]);
    expect(await queriesOf(service, () => app.softDeletes('product').page())).toEqual([]);
  });

  it('max looks at one record and one tombstone at most', async () => {
    const other = await service.another({ KNOWLEDGE_MS: '0' });
    await app.seenBy(other).max('product');
    const queries = await queriesOf(service, () => app.seenBy(other).max('product'));
    await other.leave();
    expect(plansOf(queries).sort()).toEqual([ofTombstones(ALONG_STAMP), ALONG_STAMP].sort());
    for (const query of queries) {
      expect(query.keysExamined).toBeLessThanOrEqual(1);
      expect(query.command['hint']).toBeDefined();
    }
  });
});
