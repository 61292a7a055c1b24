import { mongo } from 'mongoose';
import { type Kind, KINDS } from '../../src/record/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { filledUp } from './full-record.js';

const MANY = 1200;

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
  it.each(KINDS)('consumers receive every %s and every hard delete again', async (kind: Kind) => {
    const other = await service.application();
    const kept = await Promise.all([app.put(kind), app.put(kind)]);
    const gone = await app.put(kind);
    await Promise.all(KINDS.map((one) => other.put(one)));
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

  it('a record that cannot take a stamp does not hold up the others', async () => {
    const full = filledUp({ _id: new mongo.ObjectId(), ...app.tenant, id: 'full', data: {} });
    await service.db.collection('products').insertOne(full);
    const others = await app.products(2);
    await service.watcher.caughtUp();
    const before = await app.max('product');
    expect(await admin.json(words('product'))).toEqual({ records: 2, tombstones: 0, refused: 1 });
    await service.watcher.caughtUp();
    const delivered = await app.feed('product').drain({ from: before });
    expect(idsOf(delivered)).toEqual(others.map(({ id }) => String(id)).sort());
  });

  it('interrupted, it says so and exits 1', async () => {
    await app.product();
    const { code, errors } = await admin.run(words('product'), { interrupted: AbortSignal.abort() });
    expect(code).toBe(1);
    expect(errors).toEqual(['Interrupted: not everything is stamped anew. Run it again.']);
  });
});
