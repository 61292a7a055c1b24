import { mongo } from 'mongoose';
import { collectionOf, type Kind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { ContractCopy } from './copy.js';
import { MemberClient } from './member-client.js';

const { Decimal128, Double, Int32, Long } = mongo.BSON;
const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const records = (kind: Kind) => service.db.collection(collectionOf(kind));
const revealed = async () => (await service.metric('tidemark_restamps_total{reason="number"}')) || 0;

/** What another program does that knows records by a number. */
const upsert = (kind: Kind, id: unknown, data: mongo.Document) =>
  records(kind).updateOne({ ...app.tenant, id }, { $set: { data } }, { upsert: true });

describe.each(BUILT_IN_KINDS)('another program upserts by a number: %s', (kind) => {
  it('one record, one `id`, and each change is delivered', async () => {
    const copy = new ContractCopy(app, kind);
    for (const n of [1, 2, 3]) {
      await upsert(kind, 990017, { n });
      expect(await copy.harvest()).toEqual({ '990017': n });
    }
    const [record, ...others] = await records(kind).find(app.tenant).toArray();
    expect(others).toEqual([]);
    expect(record).toEqual({
      ...{ _id: record?._id, ...app.tenant, id: 990017, data: { n: 3 } },
      lastupdated: expect.any(Date),
    });
    await records(kind).deleteOne({ ...app.tenant, id: 990017 });
    expect(await copy.harvest()).toEqual({});
    expect((await app.hardDeletes(kind).drain()).map(({ id }) => id)).toEqual(['990017']);
  });
});

it('the record is stamped anew once, when the ledger has learned of it, and never for that again', async () => {
  const before = await revealed();
  const product = await app.product({ id: 5 });
  await service.watcher.caughtUp();
  expect(await revealed()).toBe(before + 1);
  const { _id, ...rest } = product;
  await records('product').replaceOne({ _id }, { ...rest, data: { n: 2 } });
  await app.change('product', product, { $set: { id: Long.fromNumber(5) } });
  await service.watcher.caughtUp();
  expect(await revealed()).toBe(before + 1);
});

it.each<[string, unknown, string]>([
  ['a 32-bit integer', new Int32(-7), '-7'],
  ['a 64-bit integer', Long.MAX_VALUE, '9223372036854775807'],
  ['a whole double', new Double(1e15), '1000000000000000'],
  ['minus zero', new Double(-0), '0'],
  ['a whole decimal', Decimal128.fromString('5.00'), '5'],
])('%s is delivered under its decimal text, and stays as it is stored', async (_name, id, text) => {
  const { _id } = await app.product({ id });
  await service.watcher.caughtUp();
  expect((await app.feed('product').drain()).map((item) => item.id)).toEqual([text]);
  const stored = await records('product').findOne({ _id }, { promoteValues: false });
  expect(stored?.['id']).toEqual(id);
});

it('what filters, channels and soft deletes say of it', async () => {
  await app.filter('product', 'red', { 'data.color': 'red' });
  const product = await app.product({ id: 12, data: { color: 'red' }, channels: ['web'] });
  await service.watcher.caughtUp();
  const ids = async (feed: 'feed' | 'softDeletes') => (await app[feed]('product', 'red').page()).ids;
  expect([await ids('feed'), await ids('softDeletes')]).toEqual([['12'], []]);
  expect((await app.channel('web').page()).ids).toEqual(['12']);
  await app.change('product', product, { $set: { 'data.color': 'blue', channels: [] } });
  await service.watcher.caughtUp();
  expect([await ids('feed'), await ids('softDeletes')]).toEqual([[], ['12']]);
  expect((await app.channel('web', 'softdeletes').page()).ids).toEqual(['12']);
});

it('pages are as full, and lead on, as those of texts', async () => {
  const text = 'x'.repeat(900_000);
  await app.products(10, (index) => ({ id: index % 2 === 0 ? index : `t-${index}`, data: { text } }));
  await service.watcher.caughtUp();
  const first = await app.feed('product').page({ limit: 6 });
  const second = await app.feed('product').next(first);
  expect(first.ids).toEqual(['0', 't-1', '2', 't-3', '4', 't-5']);
  expect(second?.ids).toEqual(['6', 't-7', '8', 't-9']);
});

describe('an `id` that is changed', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['to another number', 5, 6, ['6']],
    ['to another text', 5, 'six', ['six']],
    ['from a text', 'five', 6, ['6']],
    ['to what is none', 5, 5.5, [expect.stringMatching(/^.{36}$/) as string]],
  ])('%s: the old one is a hard delete', async (_name, before, after, expected) => {
    const copy = new ContractCopy(app, 'product');
    const product = await app.product({ id: before });
    expect(Object.keys(await copy.harvest())).toEqual([String(before)]);
    await app.change('product', product, { $set: { id: after } });
    expect(Object.keys(await copy.harvest())).toEqual(expected);
  });

  it.each<[string, unknown, unknown]>([
    ['a number to its text', 5, '5'],
    ['a text to its number', '5', 5],
  ])('%s: it stays what it is', async (_name, before, after) => {
    const copy = new ContractCopy(app, 'product');
    const product = await app.product({ id: before });
    await copy.harvest();
    await app.change('product', product, { $set: { id: after, 'data.n': 2 } });
    expect(await copy.harvest()).toEqual({ '5': 2 });
    expect((await app.hardDeletes('product').page()).ids).toEqual([]);
    await app.remove('product', product);
    expect(await copy.harvest()).toEqual({});
  });

  it('moved to another application, which the event tells without the `id`', async () => {
    const other = await service.application();
    const [here, there] = [new ContractCopy(app, 'product'), new ContractCopy(other, 'product')];
    const product = await app.product({ id: 5, data: { n: 1 } });
    expect(await here.harvest()).toEqual({ '5': 1 });
    await app.change('product', product, { $set: other.tenant });
    expect([await here.harvest(), await there.harvest()]).toEqual([{}, { '5': 1 }]);
  });
});

describe('deleted and written again', () => {
  it('it comes back', async () => {
    const copy = new ContractCopy(app, 'product');
    for (const n of [1, 2]) {
      await upsert('product', 5, { n });
      expect(await copy.harvest()).toEqual({ '5': n });
      await records('product').deleteOne({ ...app.tenant, id: 5 });
      expect(await copy.harvest()).toEqual({});
    }
  });
});

describe('the member endpoints', () => {
  it('find the member under its text, and leave the number alone', async () => {
    const members = new MemberClient(app);
    const { _id } = await app.member({ id: 990017, data: { accountnumber: '1', email: 'a@b.c' } });
    await service.watcher.caughtUp();
    expect((await members.read('990017')).json).toMatchObject({ id: '990017' });
    expect((await members.patch('990017', { contactname: 'Jo' })).status).toBe(200);
    expect((await members.patchAddress('990017', { city: 'Ulm' })).status).toBe(200);
    expect(await records('member').findOne({ _id })).toMatchObject({
      ...{ id: 990017, data: { contactname: 'Jo', address: { city: 'Ulm' } } },
    });
    for (const other of ['0990017', '990018', '9.90017e5', '9'.repeat(30)])
      expect((await members.read(other)).status).toBe(404);
  });

  it('find the text where there is one, and no member that is ignored', async () => {
    const members = new MemberClient(app);
    await app.member({ id: '5', createdBy: 'text' });
    await app.member({ id: 5, createdBy: 'number' });
    await service.watcher.caughtUp();
    expect((await members.read('5')).json).toMatchObject({ createdBy: 'text' });
    await records('member').deleteOne({ ...app.tenant, id: '5' });
    await service.watcher.caughtUp();
    expect((await members.read('5')).json).toMatchObject({ createdBy: 'number' });
  });
});

it('on a first start existing records are learned, and nothing is written into them', async () => {
  const tenant = { organizationid: 'acme', appid: 'shop' };
  const existing = [1, 2, 2, 'x'].map((id) => ({
    ...{ _id: new mongo.ObjectId(), ...tenant, id, lastupdated: LONG_AGO, data: {} },
  }));
  const late = await TestService.start({}, (db) => db.collection('products').insertMany(existing));
  const place = await late.application(tenant);
  expect((await place.feed('product').drain()).map(({ id }) => id)).toEqual(['1', '2', 'x']);
  expect(await late.db.collection('products').find().toArray()).toEqual(existing);
  expect(await late.metric('tidemark_ignored_records{kind="product"}')).toBe(1);
  await late.stop();
});
