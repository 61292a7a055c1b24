import type { mongo } from 'mongoose';
import type { AsideApplication, WatchState } from '../../src/replication/progress/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

const MANY = 6000;

let service: TestService;
let bulky: TestApplication;
let other: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  bulky = await service.application();
  other = await service.application();
  await other.put('product', { id: 'known' });
  await other.max('product');
  await bulky.max('product');
});
afterAll(() => service.stop());

const products = () => service.db.collection<mongo.Document>('products');
const leases = () => service.db.collection<WatchState>('tidemark.leases');

const many = (count = MANY) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ ...bulky.tenant, id: `many-${n}`, type: 'product', lastupdated: new Date(), data: { n } },
  }));

/** Every state of the lease in which an application was aside, until it was stopped. */
function seenAside() {
  const seen: AsideApplication[][] = [];
  const stream = leases().watch([], { fullDocument: 'updateLookup' });
  stream.on('change', (change) => {
    const state = (change as { fullDocument?: WatchState }).fullDocument;
    if (state?.aside !== undefined && state.aside.length > 0) seen.push(state.aside);
  });
  return { seen, stop: () => stream.close() };
}

const isTogether = async () => ((await leases().findOne({}))?.aside ?? []).length === 0;

/** What the copy of a consumer is that reads all feeds from the beginning. */
async function idsOf(app: TestApplication): Promise<string[]> {
  return (await app.feed('product').drain()).map(({ id }) => id).sort();
}

describe('an application whose bulk would hold up others', () => {
  it('is worked through beside them, and with them again after that', async () => {
    const { seen, stop } = seenAside();
    const from = await other.max('product');
    await products().insertMany(many());
    await other.put('product', { id: 'fresh' });
    expect((await other.feed('product').page({ from })).ids).toEqual(['fresh']);
    await eventually(isTogether);
    await service.watcher.caughtUp();
    await stop();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.flat().every(({ appid }) => appid === bulky.tenant.appid)).toBe(true);
    expect(await idsOf(bulky)).toEqual(
      many()
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('has every hard delete, and each change of a record that comes or goes meanwhile', async () => {
    await products().insertMany(many());
    await service.watcher.caughtUp();
    await eventually(isTogether);
    const from = await bulky.max('product');
    const fromOther = await other.max('product');
    const { seen, stop } = seenAside();
    const kept = { ...bulky.tenant, 'data.n': { $lt: 10 } };
    await products().deleteMany({ ...bulky.tenant, 'data.n': { $gte: 20 } });
    await products().updateMany(kept, [{ $set: { ...other.tenant, lastupdated: '$$NOW' } }]);
    await products().updateOne({ ...other.tenant, id: 'known' }, { $set: bulky.tenant });
    await eventually(() => seen.length > 0);
    await eventually(isTogether);
    await service.watcher.caughtUp();
    await stop();
    const gone = (await bulky.hardDeletes('product').drain({ from })).map(({ id }) => id);
    expect(gone.length).toBe(MANY - 10);
    const came = (await bulky.feed('product').drain({ from })).map(({ id }) => id);
    expect(came).toEqual(['known']);
    const moved = (await other.feed('product').drain({ from: fromOther })).map(({ id }) => id);
    expect(moved.length).toBe(10);
    expect((await other.hardDeletes('product').drain({ from: fromOther })).map(({ id }) => id)).toEqual([
      'known',
    ]);
  });
});
