import { mongo } from 'mongoose';
import { type TestApplication, TestService, withoutWatcher } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const products = () => service.db.collection<mongo.Document>('products');

/** What the hard deletes tell of everything that happened behind the watcher's back. */
async function goneAfter(work: () => Promise<unknown>): Promise<string[]> {
  const from = await app.max('product');
  await withoutWatcher(service, async () => {
    await work();
  });
  await service.watcher.caughtUp();
  return (await app.hardDeletes('product').drain({ from })).map((item) => item.id).sort();
}

describe('records no longer in the collection, where all of it happened in one batch of events', () => {
  it('an id that lives again and dies again: a new tombstone, behind what was shown', async () => {
    await app.remove('product', await app.put('product', { id: 'again' }));
    await service.watcher.caughtUp();
    const gone = await goneAfter(async () => {
      const reborn = await app.put('product', { id: 'again' });
      await products().deleteOne({ _id: reborn._id });
    });
    expect(gone).toEqual(['again']);
  });

  it('a record that got its id late', async () => {
    const gone = await goneAfter(async () => {
      const { insertedId } = await products().insertOne({
        _id: new mongo.ObjectId(),
        ...app.tenant,
      });
      await products().updateOne({ _id: insertedId }, { $set: { id: 'late', lastupdated: new Date() } });
      await products().deleteOne({ _id: insertedId });
    });
    expect(gone).toEqual(['late']);
  });

  it('a record that was nobody’s, then somebody’s under one id, then under another', async () => {
    const { _id } = await app.put('product', { id: 'first', appid: 5 });
    await service.watcher.caughtUp();
    const gone = await goneAfter(async () => {
      await products().updateOne({ _id }, { $set: { appid: app.appid } });
      await products().updateOne({ _id }, { $set: { id: 'second', lastupdated: new Date() } });
    });
    expect(gone).toEqual(['first']);
  });

  it('a record beside one whose `_id` is a text of the same digits', async () => {
    const { _id } = await app.put('product', { id: 'twin' });
    await service.watcher.caughtUp();
    const gone = await goneAfter(async () => {
      await products().deleteOne({ _id });
      await products().insertOne({ _id: _id.toHexString(), ...app.tenant, id: 'text' } as mongo.Document);
    });
    expect(gone).toEqual(['twin']);
  });
});

describe('what a record was comes from events and ledger, never from a look at what it is by now', () => {
  const MORE_THAN_A_BATCH = 1_100;

  it('a record that moves in two steps to an id whose tombstone the watcher looks at just then', async () => {
    const other = await service.application({ organizationid: app.organizationid });
    await other.remove('product', await other.put('product', { id: 'taken' }));
    const filler = await app.put('product', { id: 'filler' });
    const { _id } = await app.put('product', { id: 'moving' });
    await service.watcher.caughtUp();
    const from = await other.max('product');
    await withoutWatcher(service, async () => {
      const dead = { ...other.tenant, alive: false };
      await service.db
        .collection('tidemark.ledger')
        .updateMany(dead, { $currentDate: { lastupdated: true } });
      const changes = Array.from({ length: MORE_THAN_A_BATCH }, (_, n) => ({
        updateOne: { filter: { _id: filler._id }, update: { $set: { 'data.n': n } } },
      }));
      await products().bulkWrite(changes);
      await products().updateOne({ _id }, { $set: { appid: other.appid } });
      await products().updateOne({ _id }, { $set: { id: 'taken' } });
    });
    await service.watcher.caughtUp();
    const gone = (await other.hardDeletes('product').drain({ from })).map(({ id }) => id);
    expect(gone).toEqual(['moving']);
    expect((await other.feed('product').drain({ from })).map(({ id }) => id)).toEqual(['taken']);
  });

  it('an id of several megabytes that is born and dies at once stops nobody', async () => {
    const id = 'x'.repeat(9_000_000);
    await withoutWatcher(service, async () => {
      const { _id } = await app.put('product', { id });
      await products().deleteOne({ _id });
    });
    await service.watcher.caughtUp();
    expect((await app.hardDeletes('product').page()).items.map((item) => item.id === id)).toEqual([true]);
  });
});

describe('other programs may write in any way MongoDB allows: nothing that they store stops the watcher', () => {
  const regex = new mongo.BSONRegExp('(?i)abc');
  it.each<[string, object]>([
    ['an `_id` that has a field toString', { _id: { toString: 'a' } }],
    ['an `_id` that is a date of another age', { _id: new Date(8.64e15) }],
    ['an `_id` of another kind', { _id: new mongo.Binary(Buffer.from('a')) }],
    ['an id that is a regular expression', { id: regex }],
    ['a channel that is one', { id: 'a', channels: ['b', regex] }],
    ['an e-mail that is one', { id: 'a', data: { email: regex } }],
    ['a list in place of data', { id: 'a', data: [{ email: 'a@b.c' }], emailkey: 'a@b.c' }],
    ['a stamp that is one', { id: 'a', lastupdated: regex }],
  ])('%s', async (_name, fields) => {
    for (const kind of ['product', 'member'] as const) {
      const record = { _id: new mongo.ObjectId(), ...app.tenant, ...fields };
      await service.db.collection<mongo.Document>(`${kind}s`).insertOne(record);
      await app.remove(kind, await app.put(kind, { id: 'gone' }));
      await service.watcher.caughtUp();
      expect((await app.hardDeletes(kind).page()).ids).toEqual(['gone']);
    }
  });

  it('every stranger is counted', async () => {
    const before = (await service.metric('tidemark_ignored_records{kind="product"}')) || 0;
    for (const a of [1, 2]) await products().insertOne({ _id: { a, of: app.appid } } as mongo.Document);
    await service.watcher.caughtUp();
    expect(await service.metric('tidemark_ignored_records{kind="product"}')).toBe(before + 2);
  });
});

it('All timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`: a stamp before the year 0 is repaired', async () => {
  const before = new Date('0000-01-01T00:00:00.000Z').getTime() - 1;
  await app.put('product', { id: 'old', lastupdated: new Date(before) });
  await service.watcher.caughtUp();
  const [item] = (await app.feed('product').page()).items;
  expect(item?.lastupdated).toMatch(/^20\d\d-/);
});

it('Duplicates that others made stay, and each gets its key when the first is gone, however many there are', async () => {
  const member = (id: string, index: number) => ({
    ...app.tenant,
    id,
    lastupdated: new Date(),
    data: { email: `m${index}@example.org` },
  });
  const numbers = Array.from({ length: 1_100 }, (_, index) => index);
  const members = service.db.collection('members');
  await members.insertMany(numbers.map((index) => member(`first-${index}`, index)));
  await service.watcher.caughtUp();
  await members.insertMany(numbers.map((index) => member(`second-${index}`, index)));
  await service.watcher.caughtUp();
  await members.deleteOne({ ...app.tenant, id: 'first-1099' });
  await service.watcher.caughtUp();
  const heir = await members.findOne({ ...app.tenant, id: 'second-1099' });
  expect(heir?.['emailkey']).toBe('m1099@example.org');
  expect(await service.db.collection('tidemark.emailduplicates').countDocuments(app.tenant)).toBe(1_099);
});

it('corrects `emailkey` where it no longer fits `data.email`, also where `data` has become a list', async () => {
  const { _id } = await app.put('member', { id: 'a', data: { email: 'held@example.org' } });
  await service.watcher.caughtUp();
  const members = service.db.collection('members');
  expect((await members.findOne({ _id }))?.['emailkey']).toBe('held@example.org');
  await members.updateOne({ _id }, { $set: { data: [{ email: 'held@example.org' }] } });
  await service.watcher.caughtUp();
  expect(await members.findOne({ _id })).not.toHaveProperty('emailkey');
});

it.each([
  ['(?i)abc', ''],
  ['A B C', 'x'],
])(
  'a registered filter is matched as it is stored: the expression %s with the option "%s"',
  async (pattern, options) => {
    await app.filter('product', 'letters', { 'data.name': new mongo.BSONRegExp(pattern, options) });
    await app.put('product', { id: 'in', data: { name: 'ABC' } });
    await app.put('product', { id: 'out', data: { name: 'XYZ' } });
    expect((await app.feed('product', 'letters').page()).ids).toEqual(['in']);
    expect((await app.softDeletes('product', 'letters').page()).ids).toEqual(['out']);
  },
);
