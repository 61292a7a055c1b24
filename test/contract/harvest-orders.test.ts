import type { mongo } from 'mongoose';
import { ORDER_KIND, orderAt } from '../../bench/data/orders.mjs';
import { CopySums } from '../../client/src/harvest/digest-sums.js';
import { type CopyPlaces, mongodbCopies, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { postgresCopies } from '../support/copies/postgres-copies.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { drained } from './changes-feed.js';
import { beginHarvest, ended } from './harvest-program.js';

/** Several pages of each feed; `bench -- --only orders` harvests 200,000. */
const ORDERS = 600;
const { name: KIND, id: ID, lastupdated: STAMP } = ORDER_KIND;
const NAMED = ['--kind', KIND, '--service', 'default'];

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application();
  await orders().insertMany(Array.from({ length: ORDERS }, (_, place) => orderAt(place)));
  await service.db.collection('kinds').insertOne({ ...ORDER_KIND, ...app.tenant });
  await eventually(async () => (await app.get(`${KIND}/max`)).status === 200);
}, 120_000);
afterAll(() => service.stop());

const orders = () => service.db.collection(ORDER_KIND.collection);
const at = (place: number) => ({ _id: orderAt(place)._id });

/** What a consumer should hold of the orders, by the words of the contract alone. */
async function expected(): Promise<Map<string, unknown>> {
  const stored = await orders().find().sort({ _id: 1 }).toArray();
  return new Map(stored.map((order) => [order[ID] as string, itemOf(order)]));
}

function itemOf({ _id, [ID]: id, [STAMP]: stamp, ...data }: mongo.Document): unknown {
  const item = {
    ...{ id: id as unknown, lastupdated: stamp as unknown, type: KIND, createdBy: '' },
    createDate: (_id as mongo.ObjectId).getTimestamp(),
    data,
  };
  return JSON.parse(JSON.stringify(item));
}

/** What other programs do to an order: a field below another, a list, a refund, the stamp as they please. */
async function change(round: number): Promise<void> {
  const some = (n: number) => 100 * round + n;
  await orders().updateOne(at(some(1)), { $set: { 'customer.first_name': 'Änne' } });
  await orders().updateOne(at(some(2)), { $push: { refunds: { note: 'late' } } } as mongo.Document);
  await orders().updateOne(at(some(3)), { $unset: { note: '' }, $set: { [STAMP]: new Date(0) } });
  await orders().replaceOne(at(some(4)), { [ID]: `replaced-${round}`, tags: 'new' });
  await orders().deleteMany({ order_number: { $gte: 1001 + some(10), $lt: 1001 + some(20) } });
  await orders().insertMany([orderAt(ORDERS + round), { ...orderAt(ORDERS + 100 + round), [STAMP]: null }]);
  await orders().updateMany({ tags: 'gift' }, { $set: { tags: `gift, wrapped ${round}` } });
  await service.watcher.caughtUp();
}

it('the three feeds, changes and the digest tell of the same orders', async () => {
  const to = (await app.max(KIND)).toISOString();
  const items = await app.feed(KIND).drain({ to });
  expect(new Map(items.map((item) => [item.id, item]))).toEqual(await expected());
  const upserts = items.map((item) => ({ op: 'upsert', ...item }));
  expect(await drained(app, `${KIND}/default`, { to, limit: 170 })).toEqual(upserts);
  const sums = new CopySums();
  for (const { id, lastupdated = '' } of items) sums.add({ id, lastupdated });
  const digest = await app.get(`${KIND}/default/digest`, { query: { to } });
  const { buckets } = digest.json as { buckets: object[] };
  expect(buckets).toEqual([...sums.buckets]);
  const paths = [app.softDeletes(KIND), app.hardDeletes(KIND)];
  for (const feed of paths) expect(await feed.drain({ to })).toEqual([]);
});

const places: [string, () => Promise<CopyPlaces>][] = [
  ['SQLite', () => Promise.resolve(sqliteCopies())],
  ['NDJSON', () => Promise.resolve(ndjsonCopies())],
  ['MongoDB', () => mongodbCopies(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '')],
  ['PostgreSQL', postgresCopies],
];

it.each(places)(
  'a copy in %s holds the orders as they are, and again after changes of all sorts',
  async (store, open) => {
    const all = await open();
    const place = await all.fresh();
    const words = [...NAMED, '--to', place.to, '--table', place.table];
    const run = (...more: string[]) => ended(beginHarvest(app, [...words, ...more]));
    expect(await run()).toMatchObject({ code: 0, errors: '' });
    await change(1 + places.findIndex(([name]) => name === store));
    expect(await run()).toMatchObject({ code: 0, errors: '' });
    const held = await place.records();
    expect(held).toEqual(await expected());
    const verified = await ended(
      beginHarvest(app, ['verify', ...NAMED, '--to', place.to, '--table', place.table]),
    );
    expect(verified).toMatchObject({ code: 0 });
    await place.remove();
    await all.end();
  },
  120_000,
);
