import { mongo } from 'mongoose';
import { collectionOf, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { eventually, type Item, type Stored, type TestApplication, TestService } from '../support/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

/** What is in the record; a field that is `undefined` here is not there at all. */
const without = (record: mongo.Document) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

describe.each(BUILT_IN_KINDS)('What such a record lacks is repaired: %s', (kind) => {
  const collection = () => service.db.collection(collectionOf(kind));
  const write = (fields: mongo.Document) =>
    collection().insertOne(
      without({ ...app.tenant, id: new mongo.UUID().toString(), lastupdated: LONG_AGO, ...fields }),
    );

  /** What a consumer gets that has read everything before the record came. */
  async function deliveredAfter(
    act: () => Promise<{ _id: unknown }>,
  ): Promise<{ item: Item; stored: mongo.Document }> {
    await app.put(kind);
    const before = await app.max(kind);
    const { _id } = await act();
    await service.watcher.caughtUp();
    const stored = await collection().findOne({ _id: _id as mongo.ObjectId });
    const items = await app.feed(kind).drain({ from: before });
    const item = items.find(({ id }) => id === stored?.['id']);
    if (stored === null || item === undefined) throw new Error(`Not delivered: ${JSON.stringify(stored)}`);
    return { item, stored };
  }
  const inserted = (fields: mongo.Document) => async () => ({ _id: (await write(fields)).insertedId });

  it.each<[string, unknown]>([
    ['no `id`', undefined],
    ['null', null],
    ['a number that is not whole', 47.11],
    ['a number beyond 64 bits', 2 ** 63],
    ['not a number', NaN],
    ['an ObjectId', new mongo.ObjectId()],
    ['a list of texts', ['a', 'b']],
    ['a document', { text: 'a' }],
  ])(
    'no `id`, or one that is neither a text nor a whole number: it gets a UUID, and is delivered in the next window: %s',
    async (_name, id) => {
      const { item, stored } = await deliveredAfter(inserted({ id }));
      expect(item.id).toMatch(UUID);
      expect(stored['lastupdated']).toEqual(new Date(item.lastupdated ?? NaN));
    },
  );

  it('an `id` that another program takes away', async () => {
    const { item } = await deliveredAfter(async () => {
      const record = await app.put(kind);
      await app.change(kind, record, { $unset: { id: '' } });
      return record;
    });
    expect(item.id).toMatch(UUID);
  });

  it('an `id` in any text stays', async () => {
    for (const id of ['', ' ', '4711', '$id', 'ü'.repeat(100)]) await write({ id });
    await service.watcher.caughtUp();
    const ids = (await app.feed(kind).drain()).map((item) => item.id);
    expect(ids).toEqual(expect.arrayContaining(['', ' ', '4711', '$id', 'ü'.repeat(100)]));
  });

  it.each<[string, unknown]>([
    ['no `lastupdated`', undefined],
    ['null', null],
    ['a text', '2026-11-20T10:00:00.000Z'],
    ['a number', 1_700_000_000_000],
    ['a timestamp of the log', new mongo.Timestamp({ t: 1, i: 1 })],
    ['a list of dates', [LONG_AGO, LONG_AGO]],
    ['an empty list', []],
    ['an hour in the future', new Date(Date.now() + HOUR)],
    ['the year 9999', new Date('9999-12-31T23:59:59.999Z')],
    ['the last date there is', new Date(8.64e15)],
  ])(
    'no `lastupdated`, or one that is not a date or more than a second in the future: it gets one from the service: %s',
    async (_name, lastupdated) => {
      const start = Date.now();
      const { item } = await deliveredAfter(inserted({ lastupdated }));
      const stamp = new Date(item.lastupdated ?? 0).getTime();
      expect(stamp).toBeGreaterThanOrEqual(start - 100);
      expect(stamp).toBeLessThanOrEqual(Date.now() + 1000);
      expect((await app.max(kind)).getTime()).toBeGreaterThanOrEqual(stamp);
    },
  );

  it('a `lastupdated` that another program sets into the future later on', async () => {
    const { item } = await deliveredAfter(async () => {
      const record = await app.put(kind);
      await app.change(kind, record, { $set: { lastupdated: new Date(Date.now() + HOUR) } });
      return record;
    });
    expect(new Date(item.lastupdated ?? 0).getTime()).toBeLessThanOrEqual(Date.now() + 1000);
  });

  it('both at once', async () => {
    const { item } = await deliveredAfter(inserted({ id: undefined, lastupdated: undefined }));
    expect(item.id).toMatch(UUID);
  });

  it('a good stamp stays, however old, where nobody can have missed it', async () => {
    const unread = await service.application();
    const { _id } = await unread.put(kind, { lastupdated: LONG_AGO });
    await service.watcher.caughtUp();
    expect((await collection().findOne({ _id }))?.['lastupdated']).toEqual(LONG_AGO);
  });

  it('whoever was shown such a record is told when it is deleted, however soon', async () => {
    const { insertedIds } = await collection().insertMany(
      Array.from({ length: 50 }, () => ({ ...app.tenant })),
    );
    const repaired = { _id: { $in: Object.values(insertedIds) }, id: { $type: 'string' } } as const;
    const shown: unknown[] = [];
    await eventually(async () => {
      for (let gone; (gone = await collection().findOneAndDelete(repaired)) !== null;) shown.push(gone['id']);
      return shown.length === 50;
    });
    await service.watcher.caughtUp();
    const told = (await app.hardDeletes(kind).drain()).map(({ id }) => id);
    expect(told).toEqual(expect.arrayContaining(shown));
  });

  it('many at once', async () => {
    const before = await app.max(kind);
    const { insertedIds } = await collection().insertMany(
      Array.from({ length: 1500 }, () => ({ ...app.tenant, batch: 'many' })),
    );
    const lacking = { batch: 'many', id: { $exists: false } };
    await eventually(async () => (await collection().countDocuments(lacking)) === 0);
    await service.watcher.caughtUp();
    const ids = new Set((await app.feed(kind).drain({ from: before })).map(({ id }) => id));
    const stored = await collection().find({ batch: 'many' }).toArray();
    expect(stored).toHaveLength(Object.keys(insertedIds).length);
    expect(stored.filter(({ id }) => !ids.has(id as string))).toEqual([]);
  });

  it('a record that no stamp can be written into stops nothing', async () => {
    const record = { _id: new mongo.ObjectId(), ...app.tenant, filling: '' };
    const room = 16 * 1024 * 1024 - mongo.BSON.calculateObjectSize(record);
    const full = await collection().insertOne({ ...record, filling: 'x'.repeat(room) });
    const { item } = await deliveredAfter(inserted({ id: undefined }));
    expect(item.id).toMatch(UUID);
    await collection().deleteOne({ _id: full.insertedId });
  });
});

describe('in the first pass as well', () => {
  let late: TestService;
  let place: TestApplication;
  let records: Stored[];

  beforeAll(async () => {
    const tenant = { organizationid: 'acme', appid: 'shop' };
    records = [
      { lastupdated: LONG_AGO },
      { id: 5.5, lastupdated: 'x' },
      { id: 'good', lastupdated: LONG_AGO },
    ].map((fields) => ({ _id: new mongo.ObjectId(), ...tenant, ...fields }));
    late = await TestService.start({}, async (db) => {
      for (const kind of BUILT_IN_KINDS) await db.collection(collectionOf(kind)).insertMany(records);
    });
    place = await late.application(tenant);
  });
  afterAll(() => late.stop());

  it.each(BUILT_IN_KINDS)('%s', async (kind) => {
    const [first, second, third] = await place.feed(kind).drain();
    expect([first?.id, second?.id]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(third).toMatchObject({ id: 'good', lastupdated: LONG_AGO.toISOString() });
    const repaired = await place.feed(kind).drain({ from: LONG_AGO });
    expect(repaired.map(({ id }) => id)).toEqual([first?.id, second?.id]);
  });
});
