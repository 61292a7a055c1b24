/** @depends-on-server */
import { mongo } from 'mongoose';
import { Ledger, type LedgerEntry } from '../../src/replication/store/index.js';
import { type BuiltInKind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

type Records = mongo.Collection;
type Id = mongo.ObjectId;

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

async function inTransaction(act: (session: mongo.ClientSession) => Promise<unknown>): Promise<void> {
  const session = service.db.client.startSession();
  await session.withTransaction(() => act(session));
  await session.endSession();
}

describe.each(BUILT_IN_KINDS)(
  '`harddeletes`: a %s no longer in the collection, whoever deleted it',
  (kind: BuiltInKind) => {
    let app: TestApplication;
    let records: Records;

    beforeAll(async () => {
      app = await service.application();
      records = service.db.collection(`${kind}s`);
    });

    it.each<[string, (ids: Id[]) => Promise<unknown>]>([
      ['deleteOne', (ids) => Promise.all(ids.map((_id) => records.deleteOne({ _id })))],
      ['deleteMany', (ids) => records.deleteMany({ _id: { $in: ids } })],
      ['findOneAndDelete', (ids) => Promise.all(ids.map((_id) => records.findOneAndDelete({ _id })))],
      ['bulkWrite', (ids) => records.bulkWrite(ids.map((_id) => ({ deleteOne: { filter: { _id } } })))],
      [
        'a transaction',
        (ids) => inTransaction((session) => records.deleteMany({ _id: { $in: ids } }, { session })),
      ],
      [
        'an update that takes its id away',
        (ids) => records.updateMany({ _id: { $in: ids } }, { $unset: { id: '' } }),
      ],
      [
        'a move to another id',
        (ids) => records.updateMany({ _id: { $in: ids } }, [{ $set: { id: { $concat: ['$id', '-new'] } } }]),
      ],
      [
        'a move to another application',
        (ids) => records.updateMany({ _id: { $in: ids } }, { $set: { appid: 'elsewhere' } }),
      ],
      [
        'a replacement by another record under its _id',
        (ids) =>
          Promise.all(
            ids.map((_id) =>
              records.replaceOne({ _id }, { ...app.tenant, id: `${_id.toHexString()}-other` }),
            ),
          ),
      ],
      [
        'a replacement by what is no record',
        (ids) => Promise.all(ids.map((_id) => records.replaceOne({ _id }, { nothing: true }))),
      ],
    ])('by %s', async (_name, remove) => {
      const gone = await Promise.all([app[kind](), app[kind](), app[kind]()]);
      const kept = await app[kind]();
      await service.watcher.caughtUp();
      const before = await app.max(kind);
      await remove(gone.map(({ _id }) => _id));
      await service.watcher.caughtUp();

      const deletes = await app.hardDeletes(kind).drain({ from: before });
      expect(idsOf(deletes)).toEqual(idsOf(gone as unknown as { id: string }[]));
      expect(idsOf(await app.feed(kind).drain())).toContain(kept['id']);
      expect(idsOf(await app.feed(kind).drain())).not.toEqual(expect.arrayContaining([gone[0]?.['id']]));
    });

    it('counts in `max`', async () => {
      const record = await app[kind]();
      await service.watcher.caughtUp();
      const before = await app.max(kind);
      await records.deleteOne({ _id: record._id });
      await service.watcher.caughtUp();
      const [deleted] = await app.hardDeletes(kind).drain({ from: before });
      expect(deleted).toEqual({ id: record['id'], lastUpdated: (await app.max(kind)).toISOString() });
      expect((await app.max(kind)).getTime()).toBeGreaterThan(before.getTime());
    });

    it('a delete is told to its own application only', async () => {
      const other = await service.application();
      const [mine, theirs] = [await app[kind]({ id: 'shared' }), await other[kind]({ id: 'shared' })];
      await service.watcher.caughtUp();
      await records.deleteOne({ _id: mine._id });
      await service.watcher.caughtUp();
      expect(idsOf(await app.hardDeletes(kind).drain())).toContain('shared');
      expect(await other.hardDeletes(kind).drain()).toEqual([]);
      expect(idsOf(await other.feed(kind).drain())).toEqual([theirs['id']]);
    });
  },
);

describe("Tombstones are the ledger's documents: one for each application, kind and `id`, alive or dead", () => {
  let app: TestApplication;
  const entries = (id: string) =>
    service.db
      .collection<LedgerEntry>('tidemark.ledger')
      .find({ ...app.tenant, kind: 'product', id })
      .toArray();
  const stampOf = (entry: LedgerEntry | undefined) => entry?.lastupdated?.getTime() ?? NaN;
  const remove = async (_id: Id) => {
    await service.db.collection('products').deleteOne({ _id });
    await service.watcher.caughtUp();
  };

  beforeAll(async () => {
    app = await service.application();
  });

  it('many at once are written without a choice among indexes, one key for each', async () => {
    const records = await app.products(50);
    await service.watcher.caughtUp();
    const profiled = await commandsDuring(service.db, async () => {
      await service.db.collection('products').deleteMany({ _id: { $in: records.map(({ _id }) => _id) } });
      await service.watcher.caughtUp();
    });
    const writes = profiled.filter(
      (one) => nameOf(one) === 'update tidemark.ledger' && Number(one['nModified']) > 0,
    );
    expect(writes.reduce((sum, one) => sum + Number(one['nModified']), 0)).toBe(50);
    expect(writes.filter(({ fromMultiPlanner }) => fromMultiPlanner)).toEqual([]);
    expect(writes.reduce((sum, { keysExamined }) => sum + keysExamined!, 0)).toBeLessThanOrEqual(100);
  });

  it('a life, a death, a resurrection and a second death are one document', async () => {
    const first = await app.product({ id: 'phoenix' });
    await service.watcher.caughtUp();
    const [born] = await entries('phoenix');
    expect(born).toMatchObject({ alive: true, owner: first._id });

    await remove(first._id);
    const [dead] = await entries('phoenix');
    expect(dead).toMatchObject({ _id: born?._id, alive: false, lastupdated: expect.any(Date) });
    expect(dead).not.toHaveProperty('owner');

    const second = await app.product({ id: 'phoenix' });
    await service.watcher.caughtUp();
    const [alive] = await entries('phoenix');
    expect(alive).toMatchObject({ _id: born?._id, alive: true, owner: second._id });
    expect(alive).not.toHaveProperty('lastupdated');

    await remove(second._id);
    const again = await entries('phoenix');
    expect(again).toHaveLength(1);
    expect(again[0]).toMatchObject({ _id: born?._id, alive: false });
    expect(stampOf(again[0])).toBeGreaterThan(stampOf(dead));
  });

  it('A record that came back under the same `id` is not in it', async () => {
    const record = await app.product({ id: 'back' });
    await remove(record._id);
    expect(idsOf(await app.hardDeletes('product').drain())).toContain('back');
    await app.product({ id: 'back' });
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes('product').drain())).not.toContain('back');
  });

  it('the record is stamped above its tombstone, also where no fence is as high', async () => {
    const first = await app.product({ id: 'early' });
    await remove(first._id);
    const [dead] = await entries('early');
    const { _id } = await app.put('product', { id: 'early', lastupdated: new Date(stampOf(dead)) });
    await service.watcher.caughtUp();
    const record = await service.db.collection('products').findOne({ _id });
    expect(Number(record?.['lastupdated'])).toBeGreaterThan(stampOf(dead));
  });

  it('a record replaced by another under the same `id` at once leaves no tombstone', async () => {
    const old = await app.product({ id: 'heir' });
    await service.watcher.caughtUp();
    const now = new Date();
    const heir = { ...app.tenant, id: 'heir', lastupdated: now };
    await service.db
      .collection('products')
      .bulkWrite([{ deleteOne: { filter: { _id: old._id } } }, { insertOne: { document: heir } }]);
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes('product').drain())).not.toContain('heir');
    expect(await entries('heir')).toMatchObject([{ alive: true }]);
  });

  it('the same `id` in both kinds are two documents', async () => {
    await Promise.all([app.product({ id: 'both' }), app.member({ id: 'both' })]);
    await service.watcher.caughtUp();
    const found = service.db.collection<LedgerEntry>('tidemark.ledger').find({ ...app.tenant, id: 'both' });
    expect((await found.toArray()).map((entry) => entry.kind).sort()).toEqual(['member', 'product']);
  });

  it('no identity has two, whatever happened', async () => {
    const doubled = await service.db
      .collection('tidemark.ledger')
      .aggregate([
        { $group: { _id: ['$organizationid', '$appid', '$kind', '$id'], count: { $sum: 1 } } },
        { $match: { count: { $gt: 1 } } },
      ])
      .toArray();
    expect(doubled).toEqual([]);
  });
});

it('within one transaction the order of its changes counts: an overtaken watcher repeats nothing of before', async () => {
  const app = await service.application();
  const products = service.db.collection('products');
  const ids = Array.from({ length: 300 }, (_, n) => `number ${n}`);
  const ledger = service.app.get(Ledger, { strict: false });
  const entries = service.db.collection<LedgerEntry>('tidemark.ledger');
  await inTransaction((session) =>
    products.insertMany(
      ids.map((id) => ({ ...app.tenant, id })),
      { session },
    ),
  );
  await service.watcher.caughtUp();
  const learned = await entries.find(app.tenant, { sort: { learned: 1 } }).toArray();
  expect(learned.map(({ id }) => id)).toEqual(ids);
  await inTransaction(async (session) => {
    await products.updateOne({ ...app.tenant, id: ids[0]! }, { $set: { id: 'moved' } }, { session });
    await products.deleteOne({ ...app.tenant, id: 'moved' }, { session });
  });
  await service.watcher.caughtUp();
  const moved = (await entries.findOne({ ...app.tenant, id: 'moved' }))!;
  const [before] = await entries.find({ ...app.tenant, id: ids[0]! }).toArray();
  const life = { identity: moved, at: before!.learned, alive: true as const, owner: new mongo.ObjectId() };
  expect(before!.learned < moved.learned).toBe(true);
  expect(await ledger.learn([life])).toEqual([]);
  expect(await entries.findOne({ _id: moved._id })).toEqual(moved);
});

it('what the ledger knows of no place in the log is older than any event', async () => {
  const app = await service.application();
  const entries = service.db.collection<LedgerEntry>('tidemark.ledger');
  const record = await app.product({ id: 'of an older ledger' });
  await service.watcher.caughtUp();
  const learned = new mongo.Timestamp({ t: 2 ** 32 - 1, i: 1 }) as never;
  await entries.updateOne({ ...app.tenant, id: 'of an older ledger' }, { $set: { learned } });
  await app.remove('product', record);
  expect(idsOf(await app.hardDeletes('product').drain())).toEqual(['of an older ledger']);
});
