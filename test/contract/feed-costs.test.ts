import { mongo } from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import {
  collectionNamed,
  stored,
  type TestApplication,
  type TestFeed,
  TestService,
  WARE,
} from '../support/index.js';
import { queriesOf, sumOf } from './queries.js';

const N = 20_000;
const CHUNK = 10_000;
const PAGE = 1000;
const SPREAD = 15;
const T = Date.parse('2025-01-01T00:00:00.000Z');
/** Prime to N: stamps are spread over all records, as they are where records change at random. */
const STRIDE = 7919;
const TENANT = { organizationid: 'acme', appid: 'shop' };
const KINDS: Kind[] = ['product', WARE];
const at = (place: number) => new Date(T + place);

let service: TestService;
let app: TestApplication;

/** Before the service starts: its first pass learns all of them at the server's speed. */
async function fill(db: mongo.Db): Promise<void> {
  const record = (n: number) => ({
    ...{ _id: new mongo.ObjectId(n.toString(16).padStart(24, '0')), ...TENANT, id: `p${n}` },
    ...{ lastupdated: at((n * STRIDE) % N), data: { n }, channels: [] },
  });
  for (let first = 0; first < N; first += CHUNK) {
    const records = Array.from({ length: CHUNK }, (_, index) => record(first + index));
    await db.collection('products').insertMany(records, { ordered: false });
    const wares = records.map((one) => stored(WARE, one));
    await db.collection(collectionNamed(WARE)).insertMany(wares, { ordered: false });
  }
}

beforeAll(async () => {
  service = await TestService.withWares({}, fill);
  app = await service.application(TENANT);
  for (const kind of KINDS) {
    await app.filter(kind, 'twentieth', { 'data.n': { $mod: [20, 0] } });
    await app.filter(kind, 'half', { 'data.n': { $mod: [2, 0] } });
  }
}, 240_000);
afterAll(() => service.stop());

/** Items, index keys examined, documents examined. */
type Cost = [items: number, keys: number, documents: number];

/**
 * What a harvest of a window costs, in this order: everything; updates and soft deletes of a service that takes a
 * twentieth; the same of one that takes half. The first lists the window, the others find its list.
 */
const COSTS: [size: number, costs: Cost[]][] = [
  [
    100,
    [
      [100, 300, 100],
      [5, 200, 103],
      [95, 200, 100],
      [50, 200, 101],
      [50, 200, 100],
    ],
  ],
  [
    1000,
    [
      [1000, 3000, 1000],
      [50, 2000, 1011],
      [950, 2000, 1000],
      [500, 2000, 1000],
      [500, 2000, 1001],
    ],
  ],
  [
    5000,
    [
      [5000, 14995, 5000],
      [250, 10098, 5049],
      [4750, 9996, 5000],
      [2500, 9999, 5001],
      [2500, 9998, 5000],
    ],
  ],
  [
    10000,
    [
      [10000, 27911, 10000],
      [500, 18042, 10069],
      [9500, 17912, 10000],
      [5000, 17914, 10000],
      [5000, 17917, 10000],
    ],
  ],
  [
    12000,
    [
      [12000, 31912, 12000],
      [600, 20019, 12060],
      [11400, 19913, 12000],
      [6000, 19915, 12000],
      [6000, 19918, 12000],
    ],
  ],
  [
    12001,
    [
      [12001, 32001, 20000],
      [600, 20099, 20099],
      [11401, 20000, 20000],
      [6000, 20000, 20000],
      [6001, 20000, 20000],
    ],
  ],
  [
    20000,
    [
      [20000, 20000, 20000],
      [1000, 20000, 20000],
      [19000, 20000, 20000],
      [10000, 20000, 20000],
      [10000, 20000, 20000],
    ],
  ],
];

async function costOf(feed: TestFeed, size: number): Promise<Cost> {
  const window = size === N ? {} : { from: at(N - size - 1) };
  let items = 0;
  const queries = await queriesOf(service, async () => {
    items = (await feed.drain({ ...window, to: at(N - 1), limit: PAGE })).length;
  });
  return [items, sumOf(queries, 'keysExamined'), sumOf(queries, 'docsExamined')];
}

const feeds = (kind: Kind) => [
  app.feed(kind),
  ...['twentieth', 'half'].flatMap((name) => [app.feed(kind, name), app.softDeletes(kind, name)]),
];

/** A page is read in parts whose sizes follow the time that reading takes, and each part examines a key too many. */
const aboutAsMuch = ([items, keys, documents]: Cost) => [items, near(keys), near(documents)];
const near = (count: number) => expect.closeTo(count, -Math.log10(2 * SPREAD)) as number;

describe.each(COSTS)('a window of %i of 20,000 records', (size, expected) => {
  it.each(KINDS)(
    'of %s, what is examined: 3 keys at most for each item, and 1 document, or 2 from half of all or with a filter',
    async (kind) => {
      const costs: Cost[] = [];
      for (const feed of feeds(kind)) costs.push(await costOf(feed, size));
      expect(costs).toEqual(expected.map(aboutAsMuch));
      for (const [index, [, keys, documents]] of costs.entries()) {
        expect(keys / size).toBeLessThanOrEqual(3);
        expect(documents / size).toBeLessThanOrEqual(index === 0 && size < N / 2 ? 1 : 2);
      }
    },
  );
});
