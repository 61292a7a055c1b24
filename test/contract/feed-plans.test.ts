import type { mongo } from 'mongoose';
import { type TestApplication, type TestFeed, TestService } from '../support/index.js';
import type { FeedWindow } from '../support/feed.js';

const T = Date.parse('2025-01-01T00:00:00.000Z');
const COUNT = 400;
const LIMIT = 5;
const at = (second: number) => new Date(T + second * 1000);

const ALONG_ID = 'IXSCAN { organizationid: 1, appid: 1, _id: 1 }';
const ALONG_STAMP = 'IXSCAN { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 }';
const BY_CHANNEL = 'IXSCAN { organizationid: 1, appid: 1, channels: 1 }';
const ofTombstones = (plan: string) => plan.replace('appid: 1, ', 'appid: 1, kind: 1, ');

interface Query extends mongo.Document {
  nreturned: number;
  planSummary: string;
  keysExamined: number;
  docsExamined: number;
  command: mongo.Document;
}

let service: TestService;
let app: TestApplication;

/** One record a second, each in a window of its own; all deleted once more under other ids. */
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  await app.products(COUNT, (n) => ({
    channels: n % 2 === 0 ? ['web'] : [],
    data: { n },
    lastupdated: at(n),
  }));
  for (let n = 0; n < COUNT; n += 1) await app.member({ lastupdated: at(n) });
  await app.filter('product', 'half', { 'data.n': { $mod: [2, 0] } });
  const { db } = service;
  const gone = Array.from({ length: COUNT }, (_, n) => ({
    ...{ ...app.tenant, kind: 'product', id: `gone-${n}`, alive: false, lastupdated: at(n) },
  }));
  await db.collection('ledger').insertMany(gone);
  await service.watcher.caughtUp();
});
afterAll(() => service.stop());

/** What feeds and max asked the database of records and tombstones while something was done. */
async function queriesOf(work: () => Promise<unknown>): Promise<Query[]> {
  const { db } = service;
  await db.command({ profile: 0 });
  await db.collection('system.profile').drop();
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  const queries = await db
    .collection('system.profile')
    .find<Query>({
      ns: { $in: ['members', 'products', 'ledger'].map((name) => `${db.databaseName}.${name}`) },
    })
    .toArray();
  return queries.filter(({ command }) => JSON.stringify(command).includes('"tidemark '));
}

const plansOf = (queries: Query[]) => queries.map((query) => query.planSummary);

async function queriesOfPage(feed: TestFeed, window: FeedWindow, limit = LIMIT): Promise<Query[]> {
  let returned = 0;
  const queries = await queriesOf(
    async () => (returned = (await feed.page({ ...window, limit })).ids.length),
  );
  expect(returned).toBe(limit);
  for (const query of queries) expect(query.command['hint']).toBeDefined();
  return queries;
}

/** Windows by how much they hold: all there is without a bound below, a little, and more than sorting is worth. */
const NO_FROM: FeedWindow = { to: at(COUNT) };
const NARROW: FeedWindow = { from: at(100), to: at(130) };
const WIDE: FeedWindow = { from: at(10), to: at(COUNT - 10) };

describe('every feed query states its index, which the window decides (design §4)', () => {
  const feeds: [string, () => TestFeed, string[], (plan: string) => string][] = [
    ['updates of products', () => app.feed('product'), [], (plan) => plan],
    ['updates of members', () => app.feed('member'), [], (plan) => plan],
    ['updates of a service', () => app.feed('product', 'half'), [], (plan) => plan],
    ['softdeletes', () => app.softDeletes('product', 'half'), [], (plan) => plan],
    ['channel updates', () => app.channel('web'), [BY_CHANNEL], (plan) => plan],
    ['channel softdeletes', () => app.channel('web', 'softdeletes'), [BY_CHANNEL], (plan) => plan],
    ['harddeletes', () => app.hardDeletes('product'), [], ofTombstones],
  ];

  it.each(feeds)('%s without from: along _id', async (_name, feed, before, plan) => {
    expect(plansOf(await queriesOfPage(feed(), NO_FROM))).toEqual([...before, plan(ALONG_ID)]);
  });

  it.each(feeds)(
    '%s of a narrow window: counted and read along lastupdated',
    async (_name, feed, before, plan) => {
      const queries = await queriesOfPage(feed(), NARROW);
      expect(plansOf(queries)).toEqual([...before, plan(ALONG_STAMP), plan(ALONG_STAMP)]);
      expect(queries.at(-1)?.keysExamined).toBeLessThanOrEqual(31);
    },
  );

  it.each(feeds)(
    '%s of a wide window: counted as far as it matters, then along _id',
    async (_name, feed, before, plan) => {
      const queries = await queriesOfPage(feed(), WIDE);
      expect(plansOf(queries)).toEqual([...before, plan(ALONG_STAMP), plan(ALONG_ID)]);
      expect(queries.at(-2)?.keysExamined).toBeLessThanOrEqual(10 * LIMIT + 2);
    },
  );

  it('the window decides, whatever the planner has learned', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      expect(plansOf(await queriesOfPage(app.feed('product'), NARROW))).toEqual([ALONG_STAMP, ALONG_STAMP]);
      expect(plansOf(await queriesOfPage(app.feed('product'), WIDE))).toEqual([ALONG_STAMP, ALONG_ID]);
    }
  });
});

describe('pages that cost the same at any size', () => {
  it('a page examines what it shows, wherever in the feed it lies', async () => {
    const everything = await app.feed('product').page({ limit: COUNT });
    const middle = everything.items[COUNT / 2]?.id;
    for (const lastoffsetid of ['', middle ?? '']) {
      const [page] = await queriesOfPage(app.feed('product'), { ...NO_FROM, lastoffsetid });
      expect([page?.keysExamined, page?.docsExamined]).toEqual([LIMIT, LIMIT]);
    }
  });

  it('no page is more than one query for its items', async () => {
    const queries = await queriesOfPage(app.feed('product'), NO_FROM, 300);
    expect(queries.map((query) => query.nreturned)).toEqual([300]);
  });

  it('an empty window asks for no records at all', async () => {
    expect(await queriesOf(() => app.feed('product').page({ from: at(5), to: at(5) }))).toEqual([]);
    expect(await queriesOf(() => app.softDeletes('product').page())).toEqual([]);
  });

  it('max looks at one record and one tombstone at most', async () => {
    await app.max('product');
    const queries = await queriesOf(() => app.max('product'));
    expect(plansOf(queries).sort()).toEqual([ofTombstones(ALONG_STAMP), ALONG_STAMP].sort());
    for (const query of queries) {
      expect(query.keysExamined).toBeLessThanOrEqual(1);
      expect(query.command['hint']).toBeDefined();
    }
  });
});
