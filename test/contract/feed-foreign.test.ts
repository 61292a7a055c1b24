import mongoose from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import {
  collectionNamed,
  eventually,
  type Item,
  KINDS_AND_WARES,
  stored,
  storedField,
  type TestApplication,
  TestService,
  withoutWatcher,
  expectProblem,
} from '../support/index.js';

const { mongo } = mongoose;
type Document = mongoose.mongo.Document;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PAST = new Date('2025-03-04T05:06:07.008Z');
const FUTURE = new Date('2999-01-01T00:00:00.000Z');

/** What contract §4 says is repaired in an `id`; `undefined` stands for a field that is not there. */
const NO_IDS: unknown[] = [undefined, null, 5.5, true, { a: 1 }, new mongo.ObjectId(), ['x'], []];
const NO_STAMPS: unknown[] = [
  ...[undefined, null, '2025-03-04T05:06:07.008Z', 1741064767008, true, { $date: 1 }, FUTURE],
  ...[new Date(Date.now() + 3_600_000), [PAST], [FUTURE], [], new mongo.Timestamp({ t: 1, i: 1 })],
];

const withFields = (record: Document, fields: Document) =>
  Object.fromEntries(Object.entries({ ...record, ...fields }).filter(([, value]) => value !== undefined));

/** Expects one repaired item a record: a UUID where `id` was none, and a stamp between the two moments. */
function expectRepaired(items: Item[], count: number, since: Date): void {
  expect(items.length).toBe(count);
  for (const { id, lastupdated } of items) {
    expect(id).toMatch(UUID);
    expect(new Date(lastupdated ?? 0).getTime()).toBeGreaterThan(since.getTime() - 1000);
    expect(new Date(lastupdated ?? 0).getTime()).toBeLessThan(Date.now() + 1000);
  }
  expect(new Set(items.map((item) => item.id)).size).toBe(count);
}

describe('what such a record lacks is repaired', () => {
  let service: TestService;
  let app: TestApplication;
  beforeAll(async () => {
    service = await TestService.withWares({ MARK_WAIT: '2000' });
  });
  beforeEach(async () => {
    app = await service.application();
  });
  afterAll(() => service.stop());

  const insert = (kind: Kind, record: Document) => service.records(kind).insertOne(stored(kind, record));

  describe.each(KINDS_AND_WARES)('of the kind %s', (kind) => {
    it.each(NO_IDS.map((id) => [id]))('id %p, inserted: it gets a UUID and is delivered', async (id) => {
      const since = new Date();
      await insert(kind, withFields({ ...app.tenant, lastupdated: PAST, data: { a: 1 } }, { id }));
      await service.watcher.caughtUp();
      const items = await app.feed(kind).drain();
      expectRepaired(items, 1, since);
      expect(items[0]?.data).toEqual({ a: 1 });
    });

    it('id taken away or spoiled by an update', async () => {
      const since = new Date();
      await app.change(kind, await app.put(kind, { lastupdated: PAST }), { $unset: { id: '' } });
      await app.change(kind, await app.put(kind, { lastupdated: PAST }), { $set: { id: 5.5 } });
      await app.change(kind, await app.put(kind, { lastupdated: PAST }), { $set: { id: ['x'] } });
      await service.watcher.caughtUp();
      expectRepaired(await app.feed(kind).drain(), 3, since);
    });

    it.each(NO_STAMPS.map((stamp) => [stamp]))(
      'lastupdated %p, inserted: it gets one from the service and is delivered',
      async (lastupdated) => {
        const since = new Date();
        await insert(kind, withFields({ ...app.tenant, data: {} }, { lastupdated }));
        await insert(kind, withFields({ ...app.tenant, id: 'a', data: {} }, { lastupdated }));
        await service.watcher.caughtUp();
        const items = await app.feed(kind).drain();
        expect(items.length).toBe(2);
        const [nameless, named] = items;
        expect(named?.id).toBe('a');
        expectRepaired([{ ...named!, id: nameless!.id }], 1, since);
        expectRepaired([nameless!], 1, since);
      },
    );

    it('lastupdated taken away or spoiled by an update', async () => {
      const since = new Date();
      for (const update of [
        { $unset: { lastupdated: '' } },
        { $set: { lastupdated: 'now' } },
        { $set: { lastupdated: FUTURE } },
      ])
        await app.change(kind, await app.put(kind, { lastupdated: PAST }), update);
      await service.watcher.caughtUp();
      const items = await app.feed(kind).drain();
      expect(items.length).toBe(3);
      for (const { lastupdated } of items)
        expect(new Date(lastupdated ?? 0).getTime()).toBeGreaterThan(since.getTime() - 1000);
    });

    it('until then nothing newer is shown, and what is known is', async () => {
      await app.put(kind, { id: 'good', lastupdated: PAST });
      const to = await app.max(kind);
      await withoutWatcher(service, async () => {
        for (const lastupdated of [[PAST], [new Date(0), FUTURE], FUTURE, 'now', null])
          await app.put(kind, { lastupdated });
        for (const id of [['x'], 5, null]) await app.put(kind, { id, lastupdated: PAST });
        expect((await app.feed(kind).page({ to })).ids).toEqual(['good']);
        expect((await app.feed(kind).page({ to, from: '2000-01-01' })).ids).toEqual(['good']);
        expectProblem(await app.feed(kind).ask(), 503, 'not-watched');
        expect(await app.max(kind)).toEqual(to);
      });
      await service.watcher.caughtUp();
      expect((await app.feed(kind).drain()).length).toBe(9);
    });

    it('what is in order is left alone', async () => {
      const record = await app.put(kind, { id: 'a', lastupdated: PAST });
      await service.watcher.caughtUp();
      expect(await service.records(kind).findOne({ _id: record._id })).toEqual(stored(kind, record));
    });

    it('the empty text is an id', async () => {
      await app.put(kind, { id: '' });
      await service.watcher.caughtUp();
      expect((await app.feed(kind).page()).ids).toEqual(['']);
    });
  });
});

describe('and what was there before the first start', () => {
  it.each(KINDS_AND_WARES)('%s', async (kind) => {
    const tenant = { organizationid: 'acme', appid: 'webshop' };
    const good = { ...tenant, id: 'good', lastupdated: PAST };
    const since = new Date();
    const bad = [
      ...NO_IDS.map((id) => withFields({ ...tenant, lastupdated: PAST }, { id })),
      ...NO_STAMPS.map((lastupdated) => withFields(tenant, { lastupdated })),
    ];
    const service = await TestService.withWares({}, (db) =>
      db.collection(collectionNamed(kind)).insertMany([good, ...bad].map((record) => stored(kind, record))),
    );
    const app = await service.application(tenant);
    const [first, ...repaired] = await app.feed(kind).drain();
    expect(first).toMatchObject({ id: 'good', lastupdated: PAST.toISOString() });
    expectRepaired(repaired, bad.length, since);
    await service.stop();
  });
});

describe('a record whose _id is not an ObjectId, or whose organizationid or appid is not a string', () => {
  const ODD_IDS = [1, 'text', new mongo.UUID(), { a: 1 }, new Date(0), true, mongo.Long.fromNumber(7)];
  let service: TestService;
  let app: TestApplication;
  beforeAll(async () => {
    service = await TestService.withWares();
  });
  beforeEach(async () => {
    app = await service.application();
  });
  afterAll(() => service.stop());

  /** Records that must not be delivered to the application, each of which would match in some careless way. */
  function undeliverable(): Document[] {
    const { organizationid, appid } = app.tenant;
    const whole = { ...app.tenant, lastupdated: PAST, type: 'product', channels: 'web', data: {} };
    return [
      ...ODD_IDS.map((_id, index) => ({ ...whole, _id, id: `odd-${index}` })),
      ...[5, null, ['x', organizationid], { organizationid }].map((odd) => ({
        ...whole,
        organizationid: odd,
      })),
      ...[5, null, [appid], { appid }].map((odd) => ({ ...whole, appid: odd })),
      withFields(whole, { organizationid: undefined, id: 'a' }),
      withFields(whole, { appid: undefined, id: 'b' }),
    ];
  }

  afterEach(async () => {
    for (const kind of KINDS_AND_WARES)
      await service.records(kind).deleteMany({ [storedField(kind, 'lastupdated')]: PAST });
    await service.watcher.caughtUp();
  });

  it.each(KINDS_AND_WARES)('is never delivered, and counts in no max: %s', async (kind) => {
    const collection = service.records(kind);
    await collection.insertMany(undeliverable().map((record, n) => stored(kind, { id: `n${n}`, ...record })));
    await service.watcher.caughtUp();
    expect((await app.feed(kind).page()).ids).toEqual([]);
    expect((await app.feed(kind).page({ from: '2020-01-01' })).ids).toEqual([]);
    expect(await app.max(kind)).toEqual(new Date(0));
    await app.filter(kind, 'none', { id: 'no such record' });
    expect((await app.softDeletes(kind, 'none').page()).ids).toEqual([]);
    expect((await app.channel('web').ask()).status).toBe(404);
    await collection.deleteMany({ [storedField(kind, 'lastupdated')]: PAST });
    await service.watcher.caughtUp();
    expect((await app.hardDeletes(kind).page()).ids).toEqual([]);
  });

  it.each(KINDS_AND_WARES)('it is counted (tidemark_ignored_records): %s', async (kind) => {
    const count = () => service.metric(`tidemark_ignored_records{kind="${kind}"}`);
    const collection = service.records(kind);
    const records = undeliverable().map((record) => stored(kind, record));
    await collection.insertMany(records);
    await app.put(kind);
    await service.watcher.caughtUp();
    expect(await count()).toBe(records.length);
    await collection.deleteOne({ _id: 1 as never });
    await service.watcher.caughtUp();
    expect(await count()).toBe(records.length - 1);
    await collection.deleteMany({ [storedField(kind, 'lastupdated')]: PAST });
    await service.watcher.caughtUp();
    expect(await count()).toBe(0);
  });

  it.each(KINDS_AND_WARES)('and it is delivered once it is set right: %s', async (kind) => {
    const { insertedId } = await service
      .records(kind)
      .insertOne(stored(kind, { ...app.tenant, appid: 5, id: 'a', lastupdated: PAST }));
    await service.watcher.caughtUp();
    await service.records(kind).updateOne({ _id: insertedId }, { $set: app.tenant });
    await service.watcher.caughtUp();
    expect((await app.feed(kind).page()).ids).toEqual(['a']);
    expect(await service.metric(`tidemark_ignored_records{kind="${kind}"}`)).toBe(0);
  });
});

describe('it is counted (tidemark_ignored_records)', () => {
  it('those that were there before the start are counted too', async () => {
    const records = [
      { _id: 1, organizationid: 'acme', appid: 'webshop' },
      { organizationid: 5, appid: 'webshop' },
      { organizationid: ['acme'], appid: 'webshop' },
    ];
    const service = await TestService.start({}, (db) =>
      db.collection('products').insertMany(records as never),
    );
    const count = (kind: string) => service.metric(`tidemark_ignored_records{kind="${kind}"}`);
    await eventually(async () => (await count('product')) === records.length);
    await eventually(async () => (await count('member')) === 0);
    await service.stop();
  });
});
