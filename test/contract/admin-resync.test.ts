import { mongo } from 'mongoose';
import { type Kind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { filledUp } from './full-record.js';

const MANY = 1200;

/** What `resync --json` prints. */
interface Summary {
  records: number;
  tombstones: number;
  refused?: number;
  held?: number;
  setAside?: { what: string; _id: string; id?: string; reason: string }[];
}

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const words = (kind: string, { organizationid, appid } = app.tenant) =>
  `resync --org ${organizationid} --app ${appid} --kind ${kind}`;
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

describe('`resync --org --app --kind`', () => {
  it.each(BUILT_IN_KINDS)('consumers receive every %s and every hard delete again', async (kind: Kind) => {
    const other = await service.application();
    const kept = await Promise.all([app.put(kind), app.put(kind)]);
    const gone = await app.put(kind);
    await Promise.all(BUILT_IN_KINDS.map((one) => other.put(one)));
    const otherKind = kind === 'member' ? 'product' : 'member';
    await app.put(otherKind);
    await service.watcher.caughtUp();
    await app.remove(kind, gone);
    const before = await app.max(kind);
    const elsewhere = [await app.max(otherKind), await other.max('member'), await other.max('product')];

    expect(await admin.json(words(kind))).toEqual({ records: 2, tombstones: 1 });
    await service.watcher.caughtUp();
    const expected = kept.map(({ id }) => String(id)).sort();
    expect(idsOf(await app.feed(kind).drain({ from: before }))).toEqual(expected);
    expect(idsOf(await app.hardDeletes(kind).drain({ from: before }))).toEqual([gone['id']]);
    expect([await app.max(otherKind), await other.max('member'), await other.max('product')]).toEqual(
      elsewhere,
    );
  });

  it('changes nothing but the stamps', async () => {
    await app.products(MANY, (index) => ({ id: `p-${index}`, data: { index } }));
    await service.watcher.caughtUp();
    const before = await app.max('product');
    const stored = () =>
      service.db
        .collection('products')
        .find(app.tenant, { projection: { lastupdated: 0 }, sort: { _id: 1 } })
        .toArray();
    const was = await stored();
    const { code, output } = await admin.run(words('product'));
    expect([code, output]).toEqual([0, '1,200 records and 0 hard deletes stamped anew.']);
    await service.watcher.caughtUp();
    expect(await stored()).toEqual(was);
    expect(await app.feed('product').drain({ from: before })).toHaveLength(MANY);
  });

  it('an application without records is no error', async () => {
    expect(await admin.json(words('member'))).toEqual({ records: 0, tombstones: 0 });
  });

  it('an unknown application is', async () => {
    expect(await admin.failure(words('product', { organizationid: 'no', appid: 'body' }))).toBe(
      'There is no application no/body: see "application list".',
    );
  });

  it('interrupted, it says so and exits 1', async () => {
    await app.product();
    const { code, errors } = await admin.run(words('product'), { interrupted: AbortSignal.abort() });
    expect(code).toBe(1);
    expect(errors).toEqual([
      'Interrupted: some records or hard deletes are not stamped yet. Run the command again.',
    ]);
  });
});

describe('what a resync cannot stamp is told, and set aside for the service', () => {
  const quarantine = () => service.db.collection('tidemark.quarantine');
  const isEmpty = async () => (await quarantine().countDocuments()) === 0;

  /** Runs the command while a transaction of another program holds documents of a collection. */
  async function whileHeld<T>(collection: string, ids: mongo.ObjectId[], work: () => Promise<T>): Promise<T> {
    const holder = service.client.startSession();
    try {
      holder.startTransaction();
      const held = { _id: { $in: ids } };
      await service.db.collection(collection).updateMany(held, { $set: { held: 1 } }, { session: holder });
      return await work();
    } finally {
      await holder.endSession();
    }
  }

  it('a record that a transaction of another program holds: it is delivered after that', async () => {
    const [held, other] = await app.products(2, (index) => ({ id: `p-${index}` }));
    await service.watcher.caughtUp();
    await eventually(isEmpty);
    const before = await app.max('product');
    await whileHeld('products', [held!._id], async () => {
      const { code, output, errors } = await admin.run(words('product'));
      expect([code, output]).toEqual([1, '1 record and 0 hard deletes stamped anew.']);
      expect(errors).toEqual([
        '1 record or hard delete could not be stamped (p-0): a transaction of another program holds 1. ' +
          'It is in quarantine, and the service stamps it as soon as it can: see "status".',
      ]);
      expect(await quarantine().find().toArray()).toMatchObject([
        { _id: { what: 'record', kind: 'product', owner: held!._id }, events: 0, refusals: 1 },
      ]);
      await service.watcher.caughtUp();
      expect(idsOf(await app.feed('product').drain({ from: before }))).toEqual([other!['id']]);
    });
    await eventually(isEmpty);
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed('product').drain({ from: before }))).toEqual(['p-0', 'p-1']);
  });

  it('dozens of them, among as many that nobody holds: each counts once', async () => {
    const records = await app.products(60);
    await service.watcher.caughtUp();
    const before = await app.max('product');
    const held = records.filter((_one, n) => n % 2 === 0).map(({ _id }) => _id);
    const summary = await whileHeld('products', held, async () => {
      const { code, output } = await admin.run(`${words('product')} --json`);
      expect(code).toBe(1);
      return JSON.parse(output) as Summary;
    });
    expect(summary.records + summary.held!).toBe(60);
    expect(summary.held).toBe(held.length);
    expect(summary.setAside!.map(({ _id }) => _id).sort()).toEqual(held.map(String).sort());
    await eventually(isEmpty);
    await service.watcher.caughtUp();
    expect(await app.feed('product').drain({ from: before })).toHaveLength(60);
  });

  it('a hard delete that is held', async () => {
    const gone = await app.product({ id: 'gone' });
    await service.watcher.caughtUp();
    await app.remove('product', gone);
    const before = await app.max('product');
    const { _id } = (await service.db.collection('tidemark.ledger').findOne({ ...app.tenant, id: 'gone' }))!;
    await whileHeld('tidemark.ledger', [_id], async () => {
      const { code, output } = await admin.run(`${words('product')} --json`);
      const reason = 'A transaction of another program holds it';
      const setAside = [{ what: 'hard delete', _id: String(_id), id: 'gone', reason }];
      expect([code, JSON.parse(output)]).toEqual([1, { records: 0, tombstones: 0, held: 1, setAside }]);
    });
    await eventually(isEmpty);
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes('product').drain({ from: before }))).toEqual(['gone']);
  });

  it('a record that is full: it does not hold up the others', async () => {
    const full = filledUp({ _id: new mongo.ObjectId(), ...app.tenant, id: 'full', data: {} });
    await service.db.collection('products').insertOne(full);
    const others = await app.products(2);
    await service.watcher.caughtUp();
    const owner = { '_id.owner': full._id };
    await eventually(async () => (await quarantine().countDocuments(owner)) === 1);
    await quarantine().deleteMany(owner);
    const before = await app.max('product');
    const { code, output, errors } = await admin.run(`${words('product')} --json`);
    const summary = JSON.parse(output) as Summary;
    expect([code, summary]).toMatchObject([1, { records: 2, tombstones: 0, refused: 1 }]);
    expect(summary.setAside).toMatchObject([{ what: 'record', _id: full._id.toHexString(), id: 'full' }]);
    expect((JSON.parse(errors[0]!) as { error: string }).error).toContain('MongoDB refuses');
    await eventually(async () => (await quarantine().findOne(owner))?.['tries'] > 0);
    await service.watcher.caughtUp();
    const delivered = await app.feed('product').drain({ from: before });
    expect(idsOf(delivered)).toEqual(others.map(({ id }) => String(id)).sort());
    await app.change('product', full, { $set: { 'data.text': 'short' } });
    await eventually(isEmpty);
  });
});
