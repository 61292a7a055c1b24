import { mongo } from 'mongoose';
import { insertRaw } from './raw-insert.js';
import { rawDocument } from './raw-document.js';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let other: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  other = await service.application();
});
afterAll(() => service.stop());

const NINE_MB = 9 << 20;
const huge = 'x'.repeat(NINE_MB);
const quarantine = () => service.db.collection('tidemark.quarantine').find().toArray();

/** Another application's plain change reaches its consumers. */
async function othersAreServed(): Promise<void> {
  const { id } = (await other.product()) as Stored & { id: string };
  await service.watcher.caughtUp();
  expect((await other.feed('product').page()).ids).toContain(id);
}

describe('an event that cannot be worked through is set aside', () => {
  const validator = (query: object) => service.db.command({ collMod: 'tidemark.ledger', validator: query });

  it('others go on, and it is looked after until that succeeds', async () => {
    await app.product({ id: 'before' });
    await service.watcher.caughtUp();
    await validator({ id: { $ne: 'poison' } });
    const { _id } = await app.product({ id: 'poison' });
    await app.product({ id: 'beside' });
    await othersAreServed();
    expect(await quarantine()).toMatchObject([
      { _id: { what: 'record', kind: 'product', owner: _id }, reason: expect.stringContaining('validation') },
    ]);
    await eventually(async () => (await service.metric('tidemark_quarantined')) === 1);
    expect(
      await service.db.collection('tidemark.ledger').findOne({ ...app.tenant, id: 'beside' }),
    ).not.toBeNull();
    const behind = await app.max('product');
    await validator({});
    await eventually(async () => (await quarantine()).length === 0);
    await service.watcher.caughtUp();
    expect((await app.feed('product').drain({ from: behind })).map(({ id }) => id)).toEqual(['poison']);
    await app.remove('product', { _id });
    expect((await app.hardDeletes('product').page()).ids).toEqual(['poison']);
  });

  it.each<[string, boolean]>([
    ['at once', false],
    ['after it was looked after in vain', true],
  ])(
    'one that is gone before it was ever learned, %s, leaves a tombstone: consumers may have it',
    async (_when, late) => {
      await service.watcher.caughtUp();
      await validator({ id: { $ne: 'never learned' } });
      const record = await app.product({ id: 'never learned' });
      await othersAreServed();
      expect((await app.feed('product').page()).ids).toEqual(['never learned']);
      if (late) await eventually(async () => ((await quarantine())[0]?.['tries'] as number) > 0);
      await app.remove('product', record);
      await othersAreServed();
      await validator({});
      await eventually(async () => (await quarantine()).length === 0);
      await service.watcher.caughtUp();
      expect((await app.hardDeletes('product').page()).ids).toEqual(['never learned']);
    },
  );

  it('a delete too: its tombstone is written as soon as that can be', async () => {
    const record = await app.product({ id: 'doomed' });
    await service.watcher.caughtUp();
    await validator({ $or: [{ id: { $ne: 'doomed' } }, { alive: true }] });
    await app.remove('product', record);
    await othersAreServed();
    expect(await quarantine()).toHaveLength(1);
    await validator({});
    await eventually(async () => (await quarantine()).length === 0);
    await service.watcher.caughtUp();
    expect((await app.hardDeletes('product').page()).ids).toEqual(['doomed']);
  });
});

describe('strangers cost what changes, not what is there', () => {
  it('thousands of them are counted by their events, and told of in one line for each batch', async () => {
    const records = Array.from({ length: 3000 }, (_, n) => ({ _id: `stranger ${n}`, ...app.tenant }));
    const products = service.db.collection('products');
    const count = () => service.metric('tidemark_ignored_records{kind="product"}');
    await eventually(async () => !Number.isNaN(await count()));
    const before = await count();
    await products.insertMany(records as never);
    await othersAreServed();
    expect(await count()).toBe(before + 3000);
    await products.deleteMany({ _id: /^stranger 1/ as never });
    await othersAreServed();
    expect(await count()).toBe(before + (await products.countDocuments({ _id: /^stranger/ as never })));
  });
});

describe('the collection `channels` dropped', () => {
  it('is learned again from the products, without a restart', async () => {
    const product = await app.product({ channels: ['web'] });
    await service.watcher.caughtUp();
    const known = () =>
      service.db.collection('tidemark.channels').countDocuments({ ...app.tenant, channel: 'web' });
    await eventually(async () => (await known()) === 1);
    await eventually(async () => (await service.db.collection('tidemark.reviews').countDocuments()) === 1);
    await service.db.collection('tidemark.channels').drop();
    await eventually(async () => (await known()) === 1);
    await app.remove('product', product);
    expect((await app.channel('web').page()).ids).toEqual([]);
  }, 240_000);
});

describe('text that is not UTF-8', () => {
  const write = async (texts: [string, string][]) => {
    const _id = new mongo.ObjectId();
    const fields = Object.entries({ ...app.tenant, ...Object.fromEntries(texts), lastupdated: new Date() });
    const bytes = rawDocument([['_id', _id], ...fields]);
    for (const [, text] of texts) {
      const place = bytes.indexOf(text);
      [...text].forEach((letter, index) => letter === '~' && bytes.writeUInt8(0xff, place + index));
    }
    await insertRaw(service.uri, 'products', bytes);
    await service.watcher.caughtUp();
    await service.watcher.caughtUp();
    return _id;
  };
  const living = async () => {
    const entries = service.db.collection('tidemark.ledger').find({ ...app.tenant, alive: true });
    return (await entries.toArray()).map(({ id }) => id as string);
  };

  it('as `id`: each such record gets a UUID, and is found again when it is deleted', async () => {
    const readable = await app.product({ id: 'a\uFFFDb' });
    await service.watcher.caughtUp();
    const ids = [await write([['id', 'a~b']]), await write([['id', 'a~~b']])];
    await eventually(async () => (await living()).length === 3);
    const delivered = (await app.feed('product').page()).ids;
    expect(delivered.sort()).toEqual((await living()).sort());
    expect(delivered).toContain(readable['id']);
    await service.db.collection('products').deleteMany({ _id: { $in: ids } });
    await eventually(async () => (await living()).length === 1);
    expect(await living()).toEqual([readable['id']]);
    const gone = (await app.hardDeletes('product').page()).ids;
    expect(gone).toEqual(expect.arrayContaining(delivered.filter((id) => id !== readable['id'])));
    expect(gone).not.toContain(readable['id']);
  });

  it.each(['organizationid', 'appid'])('as %s: the record is ignored and counted', async (field) => {
    const before = await service.metric('tidemark_ignored_records{kind="product"}');
    const _id = await write([
      [field, 'a~b'],
      ['id', 'x'],
    ]);
    expect(await service.metric('tidemark_ignored_records{kind="product"}')).toBe(before + 1);
    expect(await service.db.collection('tidemark.ledger').findOne({ owner: _id })).toBeNull();
  });
});

it('members with one e-mail: each change looks only at its own', async () => {
  const members = Array.from({ length: 3000 }, (_, n) => ({
    ...{ ...app.tenant, id: `m${n}`, lastupdated: new Date(), data: { email: 'unknown@example.com' } },
  }));
  const collection = service.db.collection<mongo.Document>('members');
  const { insertedIds } = await collection.insertMany(members);
  await service.watcher.caughtUp();
  const holders = () => collection.find({ ...app.tenant, emailkey: 'unknown@example.com' }).toArray();
  expect(await holders()).toHaveLength(1);
  expect(await service.db.collection('tidemark.emailduplicates').countDocuments(app.tenant)).toBe(2999);
  const [holder] = await holders();
  await collection.deleteOne({ _id: holder!._id });
  await service.watcher.caughtUp();
  expect(await holders()).toHaveLength(1);
  expect(await service.db.collection('tidemark.emailduplicates').countDocuments(app.tenant)).toBe(2998);
  expect(Object.keys(insertedIds)).toHaveLength(3000);
});

/** Last: while an index key of megabytes is in memory, each write to its page of the index costs mongod about 15 ms. */
describe('what is too large to be learned stops nobody', () => {
  it.each<[string, unknown]>([
    ['ten thousand channels', ['web', ...Array.from({ length: 10_000 }, (_, n) => `channel ${n}`)]],
    ['a channel of 9 MB', [huge, 'web']],
    ['a channel of 9 MB instead of a list', huge],
  ])('%s', async (_what, channels) => {
    await app.product({ id: 'large', channels });
    await othersAreServed();
    const known = await service.db.collection('tidemark.channels').find(app.tenant).toArray();
    expect(known.length).toBeLessThanOrEqual(1000);
    expect(known.every(({ channel }) => (channel as string).length <= 1024)).toBe(true);
    expect(await service.metric('tidemark_too_large_total{what="channels"}')).toBeGreaterThan(0);
    expect(await quarantine()).toEqual([]);
  });

  it('an e-mail of 9 MB has no key, and others keep theirs', async () => {
    const { _id } = await app.member({ data: { email: huge } });
    const plain = await app.member({ data: { email: 'a@example.com' } });
    await othersAreServed();
    const members = service.db.collection('members');
    expect(await members.findOne({ _id }, { projection: { emailkey: 1 } })).toEqual({ _id });
    expect(await members.findOne({ _id: plain._id })).toMatchObject({ emailkey: 'a@example.com' });
    expect(await service.metric('tidemark_too_large_total{what="email"}')).toBe(1);
    expect(await quarantine()).toEqual([]);
  });
});
