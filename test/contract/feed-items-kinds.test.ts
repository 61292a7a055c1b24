/** What items of created kinds look like: contract §1 and §8, field by field, as `feed-items.test.ts` has it for the built-in kinds. */
import { mongo } from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import { eventually, type TestApplication, TestService, WARE } from '../support/index.js';

/** A kind whose collection has the field names of the service, and channels that count. */
const PARCEL = 'parcel';
const CREATED = new Date('2024-01-02T03:04:05.006Z');
const STAMPED = new Date('2025-03-04T05:06:07.008Z');
const STAMP = '2025-03-04T05:06:07.008Z';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares({}, (db) =>
    db.collection('kinds').insertOne({ name: PARCEL, collection: 'parcels', channels: true }),
  );
  const any = await service.application();
  await eventually(async () => (await any.get(`${PARCEL}/max`)).status === 200);
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const parcels = () => service.db.collection('parcels');

/** The only item of a feed. */
async function onlyItem(kind: Kind): Promise<object> {
  const { items } = await app.feed(kind).page();
  expect(items.length).toBe(1);
  return items[0]!;
}

describe('update item of a kind with the field names of the service', () => {
  const stored = {
    ...{ id: 'A-1', type: 'bundle', createDate: CREATED, createdBy: 'erp', lastupdated: STAMPED },
    ...{ data: { name: 'Chair', passwordhash: 'a key like others' }, channels: ['web', 'shop'] },
  };
  const shown = { ...stored, createDate: '2024-01-02T03:04:05.006Z', lastupdated: STAMP };

  it('as it is stored; nothing is added, whatever else the record has', async () => {
    await parcels().insertOne({ ...app.tenant, ...stored, emailkey: 'a@b', lastUpdated: 'x', extra: 1 });
    expect(await onlyItem(PARCEL)).toStrictEqual(shown);
  });

  it.each<[unknown, unknown]>([
    [[], []],
    [null, []],
    [5, []],
    ['web', ['web']],
    [
      ['web', 5, null, { a: 1 }, ['deep'], 'shop'],
      ['web', 'shop'],
    ],
  ])('channels %j are shown as %j', async (channels, want) => {
    await parcels().insertOne({ ...app.tenant, ...stored, channels });
    expect(await onlyItem(PARCEL)).toStrictEqual({ ...shown, channels: want });
  });

  it('what a record lacks is shown plainly', async () => {
    const { insertedId } = await parcels().insertOne({ ...app.tenant, id: 'A-1', lastupdated: STAMPED });
    expect(await onlyItem(PARCEL)).toStrictEqual({
      ...{ id: 'A-1', type: PARCEL, createDate: insertedId.getTimestamp().toISOString(), createdBy: '' },
      ...{ lastupdated: STAMP, data: {}, channels: [] },
    });
  });

  it.each([
    ['type', [null, 5, ['x'], { a: 1 }], PARCEL],
    ['createdBy', [null, 5, ['erp'], { a: 1 }], ''],
    ['data', [null, 5, 'text', true, ['x'], STAMPED, new mongo.Binary(Buffer.from('x'))], {}],
  ])('%s of another type than it has', async (name, values, want) => {
    await parcels().insertMany(
      values.map((value, n) => ({ ...app.tenant, ...stored, id: `v${n}`, [name]: value })),
    );
    const { items } = await app.feed(PARCEL).page();
    expect(items.map((item) => (item as unknown as Record<string, unknown>)[name])).toStrictEqual(
      values.map(() => want),
    );
  });
});

describe('update item of a kind whose collection has names of its own and no `data`', () => {
  it('all other fields are its data, those with names of the service as well', async () => {
    const rest = { name: 'Chair', sizes: [1, 2], id: 7, lastupdated: 'x', type: 'toy', createdBy: 'y' };
    const more = { createDate: CREATED, channels: ['web'], passwordhash: 'a key like others' };
    const { insertedId } = await service.records(WARE).insertOne({
      ...{ ...app.tenant, ...rest, ...more },
      ...{ sku: 'A-1', updatedAt: STAMPED },
    });
    expect(await onlyItem(WARE)).toStrictEqual({
      ...{ id: 'A-1', type: WARE, createDate: insertedId.getTimestamp().toISOString(), createdBy: '' },
      lastupdated: STAMP,
      data: { ...rest, ...more, createDate: '2024-01-02T03:04:05.006Z' },
    });
  });

  it('what a record lacks is shown plainly', async () => {
    const record = { ...app.tenant, sku: 'A-1', updatedAt: STAMPED };
    const { insertedId } = await service.records(WARE).insertOne(record);
    expect(await onlyItem(WARE)).toStrictEqual({
      ...{ id: 'A-1', type: WARE, createDate: insertedId.getTimestamp().toISOString(), createdBy: '' },
      ...{ lastupdated: STAMP, data: {} },
    });
  });
});

describe.each([PARCEL, WARE])('delete item of a %s: id, lastUpdated (capital U)', (kind) => {
  const put = () =>
    kind === WARE
      ? service.records(WARE).insertOne({ ...app.tenant, sku: 'A-1', updatedAt: STAMPED, secret: 'x' })
      : parcels().insertOne({ ...app.tenant, id: 'A-1', lastupdated: STAMPED, data: { secret: 'x' } });

  it('softdeletes', async () => {
    await app.filter(kind, 'none', { id: 'no such record' });
    await put();
    const { items } = await app.softDeletes(kind, 'none').page();
    expect(items).toStrictEqual([{ id: 'A-1', lastUpdated: STAMP }]);
  });

  it('harddeletes', async () => {
    const { insertedId } = await put();
    await app.remove(kind, { _id: insertedId });
    const { items } = await app.hardDeletes(kind).page();
    expect(items).toStrictEqual([{ id: 'A-1', lastUpdated: (await app.max(kind)).toISOString() }]);
  });
});
