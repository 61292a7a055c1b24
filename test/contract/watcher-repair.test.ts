import type { mongo } from 'mongoose';
import { collectionOf } from '../../src/kinds/index.js';
import type { LedgerEntry } from '../../src/replication/store/index.js';
import { placeAfter } from '../../src/replication/protocol/index.js';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const products = () => service.db.collection('products');
const watcher = () =>
  service.db.collection<{ _id: string; since: mongo.Timestamp; watched: mongo.Timestamp; pass?: object }>(
    'tidemark.leases',
  );
const since = async () => (await watcher().findOne({ _id: 'watcher' }))!.since;

/** Does something that only a pass can find out, and waits until one has ended. */
async function repaired(work: () => Promise<unknown>): Promise<void> {
  const before = await since();
  await work();
  await eventually(async () => (await since()).compare(before) > 0);
  await service.watcher.caughtUp();
}

/** What a consumer that has read everything before gets next. */
async function nextHarvest(from: Date): Promise<{ ids: string[]; gone: string[] }> {
  const ids = (await app.feed('product').drain({ from })).map(({ id }) => id);
  const gone = (await app.hardDeletes('product').drain({ from })).map(({ id }) => id);
  return { ids: ids.sort(), gone: gone.sort() };
}

const record = (id: string) => ({ ...app.tenant, id, lastupdated: new Date(5), data: {} });

it('a moment of before a pass is shown no more, not even where it was shown before', async () => {
  const product = await app.put('product', { id: 'a' });
  const to = await app.max('product');
  const harvest = async () => (await app.feed('product').drain({ to })).map(({ id }) => id);
  expect(await harvest()).toEqual(['a']);
  await app.change('product', product, { $set: { 'data.n': 1 } });
  await service.watcher.caughtUp();
  expect(await harvest()).toEqual(['a']);
  await repaired(() => service.db.collection('members').drop());
  expect(await harvest()).toEqual([]);
});

describe('rule 6: a collection dropped or renamed', () => {
  beforeEach(async () => {
    for (const id of ['a', 'b']) await app.put('product', { id });
  });

  it('dropped: every living ledger entry is a delete', async () => {
    const from = await app.max('product');
    await repaired(() => products().drop());
    expect(await nextHarvest(from)).toEqual({ ids: [], gone: ['a', 'b'] });
  });

  it('dropped and filled again with old stamps: what is there is delivered, what is not is a delete', async () => {
    const from = await app.max('product');
    await repaired(async () => {
      await products().drop();
      await products().insertMany([record('b'), record('c')]);
    });
    expect(await nextHarvest(from)).toEqual({ ids: ['b', 'c'], gone: ['a'] });
  });

  it('renamed over by another: what the collection holds now is stamped anew', async () => {
    const from = await app.max('product');
    await service.db.collection('prepared').insertMany([record('b'), record('c')]);
    await repaired(() => service.db.collection('prepared').rename('products', { dropTarget: true }));
    expect(await nextHarvest(from)).toEqual({ ids: ['b', 'c'], gone: ['a'] });
  });

  it('renamed away and back', async () => {
    const from = await app.max('product');
    await repaired(() => products().rename('elsewhere'));
    expect((await nextHarvest(from)).gone).toEqual(['a', 'b']);
    await repaired(() => service.db.collection('elsewhere').rename('products', { dropTarget: true }));
    expect(await nextHarvest(from)).toEqual({ ids: ['a', 'b'], gone: [] });
  });

  it('dropped and filled again beside an edited filter, all in one batch of events', async () => {
    await app.filter('product', 'red', { 'data.color': 'red' });
    const from = await app.max('product');
    await repaired(() =>
      withoutWatcher(service, async () => {
        await service.db
          .collection('services')
          .updateOne({ ...app.tenant, name: 'red' }, { $set: { filter: { 'data.color': 'blue' } } });
        await products().drop();
        await products().insertMany([{ ...record('b'), data: { color: 'blue' } }, record('c')]);
      }),
    );
    expect(await nextHarvest(from)).toEqual({ ids: ['b', 'c'], gone: ['a'] });
    expect((await app.feed('product', 'red').drain({ from })).map(({ id }) => id)).toEqual(['b']);
  });

  it('the indexes are made again', async () => {
    await repaired(() => products().drop());
    expect(await products().indexExists('organizationid_1_appid_1_lastupdated_1__id_1')).toBe(true);
  });

  it.each(['tidemark.ledger', 'tidemark.marks', 'tidemark.filterversions'])(
    'the service’s own %s dropped: nothing is lost either',
    async (name) => {
      const from = await app.max('product');
      await repaired(() => service.db.collection(name).drop());
      const { ids } = await nextHarvest(from);
      expect(ids).toEqual(['a', 'b']);
    },
  );
});

describe('a lost history: what cannot be proven unchanged is changed', () => {
  it('everything is delivered again, deletes too, and known anew; a pass that was cut off begins again', async () => {
    await app.remove('product', await app.put('product', { id: 'dead' }));
    const kept = await app.put('product', { id: 'kept' });
    const gone = await app.put('product', { id: 'gone' });
    const from = await app.max('product');
    await service.leave();
    const left = (await watcher().findOne({ _id: 'watcher' }))!.watched;
    await service.db.collection(collectionOf('product')).deleteOne({ _id: gone._id });
    await app.change('product', kept, { $set: { 'data.n': 1 } });
    const pass = { reason: 'cut off', isRepair: true, started: new Date(), done: 1, total: 9 };
    await watcher().updateOne({ _id: 'watcher' }, { $set: { pass } });
    const next = await service.another();
    app = app.seenBy(next);
    await next.watcher.caughtUp();
    expect(await nextHarvest(from)).toEqual({ ids: ['kept'], gone: ['dead', 'gone'] });
    const entries = await service.db.collection<LedgerEntry>('tidemark.ledger').find(app.tenant).toArray();
    expect(entries.filter(({ learned }) => learned <= placeAfter(left)).map(({ id }) => id)).toEqual([]);
    expect((await watcher().findOne({ _id: 'watcher' }))?.pass).toBeUndefined();
    await next.leave();
  });

  it('while a pass is under way feeds and max answer 503 preparing', async () => {
    await app.put('product');
    const to = await app.max('product');
    const pass = { reason: 'a test', isRepair: true, started: new Date(), done: 1, total: 9 };
    await watcher().updateOne({ _id: 'watcher' }, { $set: { pass } });
    for (const answer of [
      await app.get('product/max'),
      await app.feed('product').ask({ to: to.toISOString() }),
    ])
      expectProblem(answer, 503, 'preparing');
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
  });
});

it('dropDatabase takes the service’s own memory with it: it begins anew', async () => {
  await app.put('product', { id: 'before' });
  await app.max('product');
  await service.db.dropDatabase();
  await eventually(async () => (await fetch(`${service.url}/health/ready`)).status === 200);
  const fresh = await service.application();
  await fresh.put('product', { id: 'after' });
  await service.watcher.caughtUp();
  expect((await fresh.feed('product').page()).ids).toEqual(['after']);
});
