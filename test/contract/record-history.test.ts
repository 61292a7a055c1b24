import type { mongo } from 'mongoose';
import { type Stored, type TestApplication, TestService, withoutWatcher } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { aboutProducts, allNoted, LONG_AGO, readProduct, toldHistory } from './told-history.js';

let service: TestService;
let app: TestApplication;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const reasons = async (id: unknown) => (await toldHistory(app, id)).restamps.map(({ reason }) => reason);

describe('which re-stamps a record had, and why', () => {
  it.each<[string, mongo.Document, string]>([
    ['left', { $set: { 'data.n': 2 } }, 'Another program changed it without changing its stamp.'],
    [
      'late',
      { $set: { lastupdated: LONG_AGO } },
      'It was written with a stamp at or below what a consumer may have read already.',
    ],
    [
      'bad',
      { $set: { lastupdated: 'yesterday' } },
      'Its stamp was missing, was not a date, or lay in the future.',
    ],
  ])('%s', async (reason, update, meaning) => {
    const record = await readProduct(app);
    await app.change('product', record, update);
    const { restamps, ...standing } = await toldHistory(app, record.id);
    expect(restamps).toEqual([{ at: expect.any(String), reason, what: 'record', meaning }]);
    expect(standing).toMatchObject({ state: 'alive', owner: String(record._id), gaps: [], keptDays: 30 });
  });

  it('filter: it names the service', async () => {
    const untouched = await app.product({ data: { n: 5 } });
    const { id } = await readProduct(app, { data: { n: 1 } });
    await app.filter('product', 'few', { 'data.n': { $lt: 1 } });
    const own = { ...app.tenant, name: 'few' };
    await service.db.collection('services').updateOne(own, { $set: { filter: { 'data.n': { $lt: 2 } } } });
    const meaning = 'A change to the product service "few" affects whether or how it delivers the record.';
    expect((await toldHistory(app, id)).restamps).toMatchObject([{ reason: 'filter', meaning }]);
    expect(await reasons(untouched['id'])).toEqual([]);
  });

  it('a service of another application is not named to whom the record belongs now', async () => {
    const record = await readProduct(app, { data: { n: 1 } });
    await app.filter('product', 'secret', { 'data.n': 2 });
    await service.db
      .collection('services')
      .updateOne({ ...app.tenant, name: 'secret' }, { $set: { filter: { 'data.n': 1 } } });
    expect(await reasons(record.id)).toEqual(['filter']);
    const other = await service.application();
    await app.change('product', record, { $set: other.tenant });
    const moved = await toldHistory(other, record.id);
    expect(moved.restamps.map(({ reason }) => reason)).toContain('filter');
    expect(JSON.stringify(moved)).not.toContain('secret');
    expect(await toldHistory(app, record.id)).toMatchObject({ state: 'gone', restamps: [] });
  });

  it('resurrection: a record came back under an id that was deleted', async () => {
    await app.remove('product', await readProduct(app, { id: 'phoenix' }));
    await app.max('product');
    await app.product({ id: 'phoenix', lastupdated: LONG_AGO });
    expect(await reasons('phoenix')).toContain('resurrection');
  });

  it('tombstone: a hard delete came too late', async () => {
    await app.remove('product', await readProduct(app, { id: 'doomed' }));
    await app.max('product');
    await service.db
      .collection('tidemark.ledger')
      .updateOne({ ...app.tenant, id: 'doomed' }, { $set: { lastupdated: LONG_AGO } });
    const { state, restamps } = await toldHistory(app, 'doomed');
    expect(state).toBe('gone');
    expect(restamps).toMatchObject([{ reason: 'tombstone', what: 'hard delete' }]);
  });

  it('resync: the command stamped the record, and hard deletes', async () => {
    const { id } = await readProduct(app);
    await app.remove('product', await readProduct(app, { id: 'gone' }));
    expect(await admin.json(aboutProducts('resync', app))).toEqual({ records: 1, tombstones: 1 });
    const meaning = 'The command resync or restored stamped it anew.';
    expect((await toldHistory(app, id)).restamps).toMatchObject([
      { reason: 'resync', what: 'record', meaning },
    ]);
    expect((await toldHistory(app, 'gone')).restamps).toMatchObject([
      { reason: 'resync', what: 'hard delete' },
    ]);
  });

  it('of records that change together, those alone that had to be stamped', async () => {
    const late = await app.products(16, () => ({ data: { n: 0 } }));
    await readProduct(app);
    const good = await app.products(16, () => ({ data: { n: 0 } }));
    const products = service.db.collection('products');
    const ids = { _id: { $in: good.map(({ _id }) => _id) } };
    await products.updateMany(ids, [{ $set: { lastupdated: { $add: ['$$NOW', 20] } } }]);
    await allNoted(service);
    await withoutWatcher(service, async () => {
      await service.db.collection('tidemark.restamps').deleteMany({});
      await products.updateMany({ ...app.tenant, 'data.n': 0 }, { $set: { 'data.n': 1 } });
    });
    const told = async (records: Stored[]) => {
      const histories = records.map(async ({ id }) => (await toldHistory(app, id)).restamps);
      return (await Promise.all(histories)).flat().map(({ meaning }) => meaning);
    };
    expect(await told(good)).toEqual([]);
    expect(await told(late)).toEqual(
      late.map(() => 'Another program changed it without changing its stamp.'),
    );
  });

  it('the newest first', async () => {
    const record = await readProduct(app);
    await app.change('product', record, { $set: { lastupdated: LONG_AGO } });
    await allNoted(service);
    await app.max('product');
    await app.change('product', record, { $set: { 'data.n': 1 } });
    expect(await reasons(record.id)).toEqual(['left', 'late']);
  });

  it('none of one that nobody changed behind a consumer, or that nobody knows', async () => {
    const { id } = await readProduct(app);
    expect(await toldHistory(app, id)).toMatchObject({ state: 'alive', restamps: [] });
    expect(await toldHistory(app, 'never')).toMatchObject({ state: 'unknown', restamps: [] });
  });

  it('`record history --org --app --kind --id` tells the same', async () => {
    const record = await readProduct(app);
    const asked = aboutProducts('record history', app, record.id);
    expect((await admin.run(asked)).output).toContain('No re-stamp is noted in the last 30 days.');
    await app.change('product', record, { $set: { 'data.n': 2 } });
    const told = await toldHistory(app, record.id);
    expect(await admin.json(asked)).toEqual(told);
    expect((await admin.run(asked)).output.split('\n')).toEqual([
      expect.stringContaining(`The product "${record.id}" is alive`),
      expect.stringMatching(/^STAMPED ANEW +WHAT +REASON +WHY$/),
      expect.stringMatching(
        /^\d{4}-\S+Z +record +left +Another program changed it without changing its stamp\.$/,
      ),
    ]);
  });
});
