import { mongo } from 'mongoose';
import { type TestApplication, type TestFeed, TestService } from '../support/index.js';
import { queriesOf, sumOf } from './queries.js';

const N = 100_000;
const CHUNK = 5000;
const PAGE = 1000;
const T = Date.parse('2025-01-01T00:00:00.000Z');
/** Prime to N: stamps are spread over all records, as they are where records change at random. */
const STRIDE = 7919;
const TENANT = { organizationid: 'acme', appid: 'shop' };
const at = (place: number) => new Date(T + place);

let service: TestService;
let app: TestApplication;

/** The watcher follows bit by bit: all at once would take longer than a test waits for it. */
async function fill(db: mongo.Db): Promise<void> {
  const record = (n: number) => ({
    ...{ _id: new mongo.ObjectId(n.toString(16).padStart(24, '0')), ...TENANT, id: `p${n}` },
    ...{ lastupdated: at((n * STRIDE) % N), data: { n }, channels: [] },
  });
  for (let first = 0; first < N; first += CHUNK) {
    const records = Array.from({ length: CHUNK }, (_, index) => record(first + index));
    await db.collection('products').insertMany(records, { ordered: false });
    await service.watcher.caughtUp();
  }
}

beforeAll(async () => {
  service = await TestService.start();
  await fill(service.db);
  app = await service.application(TENANT);
  await app.filter('product', 'twentieth', { 'data.n': { $mod: [20, 0] } });
  await app.filter('product', 'half', { 'data.n': { $mod: [2, 0] } });
}, 120_000);
afterAll(() => service.stop());

/** What a harvest of a window costs the database for each item of the window, page by page. */
async function costOf(
  feed: TestFeed,
  size: number,
): Promise<{ items: number; keys: number; documents: number }> {
  const window = size === N ? {} : { from: at(N - size - 1) };
  let items = 0;
  const queries = await queriesOf(service, async () => {
    items = (await feed.drain({ ...window, to: at(N - 1), limit: PAGE })).length;
  });
  return {
    items,
    keys: sumOf(queries, 'keysExamined') / size,
    documents: sumOf(queries, 'docsExamined') / size,
  };
}

describe.each([100, 1000, 10_000, 50_000, 60_000, 60_001, N])('a window of %i of 100,000 records', (size) => {
  it('without a filter: 3 keys and 1 document at most for each item, 2 documents from half of all on', async () => {
    const { items, keys, documents } = await costOf(app.feed('product'), size);
    expect(items).toBe(size);
    expect(keys).toBeLessThanOrEqual(3);
    expect(documents).toBeLessThanOrEqual(size < N / 2 ? 1 : 2);
  });

  it.each([
    ['twentieth', 0.05],
    ['half', 0.5],
  ])('updates and softdeletes of a service, %s: 2 documents at most for each', async (name, share) => {
    for (const [feed, part] of [
      [app.feed('product', name), share],
      [app.softDeletes('product', name), 1 - share],
    ] as const) {
      const { items, keys, documents } = await costOf(feed, size);
      expect(Math.abs(items - size * part)).toBeLessThanOrEqual(size * 0.02);
      expect(keys).toBeLessThanOrEqual(3);
      expect(documents).toBeLessThanOrEqual(2);
    }
  });
});
