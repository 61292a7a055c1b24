import type { mongo } from 'mongoose';
import { collectionOf, type Kind } from '../../src/kinds/index.js';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let other: TestApplication;
let holder: mongo.ClientSession;

beforeEach(async () => {
  service = await TestService.start();
  [app, other] = [await service.application(), await service.application()];
  holder = service.client.startSession();
});
afterEach(async () => {
  await holder.endSession();
  await service.stop();
});

const abandoned = () => service.metric('tidemark_watcher_abandoned_total');
const setAside = () => service.db.collection('tidemark.quarantine').countDocuments();

/**
 * Another program changes records while no instance runs, and its next transaction holds them when one comes that has to write
 * into them.
 */
async function holdWhileAway(kind: Kind, records: Stored[], change: mongo.Document): Promise<void> {
  const ids = { _id: { $in: records.map(({ _id }) => _id) } };
  const collection = service.db.collection(collectionOf(kind));
  await service.watcher.caughtUp();
  await service.leave();
  await collection.updateMany(ids, change);
  holder.startTransaction();
  await collection.updateMany(ids, { $inc: { 'data.held': 1 } }, { session: holder });
  service = await service.another();
  [app, other] = [app.seenBy(service), other.seenBy(service)];
}

/** Changes of others reach their consumers while the records are held, and nobody gives up a term. */
async function expectOthersServed(): Promise<void> {
  const { id } = await other.product();
  const gone = await other.product();
  expect((await other.feed('product').page()).ids).toContain(id);
  await service.db.collection('products').deleteOne({ _id: gone._id });
  await eventually(async () => (await other.hardDeletes('product').page()).ids.includes(String(gone['id'])));
  expect(holder.inTransaction()).toBe(true);
  expect(await abandoned()).toBe(0);
}

async function expectDelivered(kind: Kind, ids: string[], from: Date): Promise<void> {
  await holder.commitTransaction();
  await eventually(async () => (await setAside()) === 0);
  await service.watcher.caughtUp();
  const items = await app.feed(kind).drain({ from });
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(ids));
}

describe('a record that a transaction of another program holds costs only itself', () => {
  it('one that is to be stamped anew', async () => {
    const held = await app.product({ id: 'held' });
    await service.watcher.caughtUp();
    const before = await app.max('product');
    await holdWhileAway('product', [held], { $inc: { 'data.n': 1 } });
    await expectOthersServed();
    await expectDelivered('product', ['held'], before);
  });

  it('dozens of them, among as many that nobody holds', async () => {
    const records = await app.products(60);
    await service.watcher.caughtUp();
    const before = await app.max('product');
    const held = records.filter((_one, n) => n % 2 === 0);
    await holdWhileAway('product', held, { $inc: { 'data.n': 1 } });
    await expectOthersServed();
    await expectDelivered(
      'product',
      held.map(({ id }) => String(id)),
      before,
    );
  });

  it('a member that is to get its `emailkey`', async () => {
    const held = await app.member({ id: 'held', data: { accountnumber: '1', email: 'a@example.com' } });
    await service.watcher.caughtUp();
    const before = await app.max('member');
    await holdWhileAway('member', [held], { $set: { 'data.email': 'b@example.com' } });
    await expectOthersServed();
    await expectDelivered('member', ['held'], before);
    await eventually(
      async () =>
        (await service.db.collection('members').findOne({ _id: held._id }))?.['emailkey'] === 'b@example.com',
    );
  });

  it('one that came back under the `id` of a hard delete', async () => {
    const dead = await app.product({ id: 'held' });
    await service.watcher.caughtUp();
    await app.remove('product', dead);
    const before = await app.max('product');
    const back = await app.product({ id: 'elsewhere' });
    await holdWhileAway('product', [back], { $set: { id: 'held' } });
    await expectOthersServed();
    await holder.commitTransaction();
    await eventually(async () => (await setAside()) === 0);
    await service.watcher.caughtUp();
    expect((await app.feed('product').drain({ from: before })).map(({ id }) => id)).toEqual(['held']);
    expect((await app.hardDeletes('product').page()).ids).toEqual(['elsewhere']);
  });
});
