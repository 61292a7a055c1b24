import mongoose from 'mongoose';
import { expectProblem, KINDS_AND_WARES, type TestApplication, TestService } from '../support/index.js';

const { mongo } = mongoose;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());
beforeEach(async () => {
  app = await service.application();
});

describe.each(KINDS_AND_WARES)('services of kind %s', (kind) => {
  it('default needs no registration and filters nothing', async () => {
    await app.put(kind, { id: 'a' });
    await app.put(kind, { id: 'b', data: { datasource: 'erp' } });
    expect((await app.feed(kind).page()).ids).toEqual(['a', 'b']);
  });

  it('softdeletes: empty for default', async () => {
    await app.put(kind);
    const page = await app.softDeletes(kind).page();
    expect(page.answer.text).toBe('{"result":[],"nextoffsetid":""}\n');
  });

  it('updates of a service: records that match its filter; softdeletes: those that do not', async () => {
    await app.filter(kind, 'erp', { 'data.datasource': 'erp' });
    await app.put(kind, { id: 'erp', data: { datasource: 'erp' } });
    await app.put(kind, { id: 'shop', data: { datasource: 'shop' } });
    await app.put(kind, { id: 'none' });
    expect((await app.feed(kind, 'erp').page()).ids).toEqual(['erp']);
    expect((await app.softDeletes(kind, 'erp').page()).ids).toEqual(['shop', 'none']);
  });

  it('a record that leaves the filter moves from updates to softdeletes, and back', async () => {
    await app.filter(kind, 'erp', { 'data.datasource': 'erp' });
    const record = await app.put(kind, { id: 'a', data: { datasource: 'erp' } });
    await app.change(kind, record, { $set: { 'data.datasource': 'shop' } });
    expect((await app.feed(kind, 'erp').page()).ids).toEqual([]);
    expect((await app.softDeletes(kind, 'erp').page()).ids).toEqual(['a']);
    await app.change(kind, record, { $set: { 'data.datasource': 'erp' } });
    expect((await app.feed(kind, 'erp').page()).ids).toEqual(['a']);
    expect((await app.softDeletes(kind, 'erp').page()).ids).toEqual([]);
  });

  it('a service is of one kind only', async () => {
    await app.filter(kind, 'erp', {});
    const other = kind === 'member' ? 'product' : 'member';
    expectProblem(await app.feed(other, 'erp').ask(), 404, 'unknown-service');
    expect((await app.feed(kind, 'erp').ask()).status).toBe(200);
  });

  it.each(['nobody', 'max', 'harddeletes', 'Default', 'x'.repeat(65), '%24where', 'a%2Fb', '-', 'a b'])(
    'unknown service: 404 for %s',
    async (name) => {
      for (const feed of ['updates', 'softdeletes']) {
        const answer = await app.get(`${kind}/${name}/${feed}`, { query: { to: '2025-01-01' } });
        expectProblem(answer, 404, 'unknown-service');
      }
    },
  );
});

describe('updates and softdeletes of a service complement one another', () => {
  const records = [
    ...[{}, { n: null }, { n: 0 }, { n: 1 }, { n: 5 }, { n: '5' }, { n: [1, 5] }, { n: [] }, { n: { a: 1 } }],
    ...[{ n: new Date(5) }, { n: NaN }, { n: mongo.Long.fromNumber(5) }, { n: true }, { other: 5 }],
  ];
  const filters: Record<string, mongoose.mongo.Document> = {
    everything: {},
    nothing: { 'data.n': { $in: [] } },
    equal: { 'data.n': 5 },
    null: { 'data.n': null },
    not: { 'data.n': { $not: { $gt: 1 } } },
    unequal: { 'data.n': { $ne: 5 } },
    range: { 'data.n': { $gt: 0, $lt: 5 } },
    missing: { 'data.n': { $exists: false } },
    typed: { 'data.n': { $type: 'number' } },
    sized: { 'data.n': { $size: 2 } },
    matched: { 'data.n': { $elemMatch: { $gt: 3 } } },
    pattern: { 'data.n': { $regex: '^5$' } },
    any: { $or: [{ 'data.n': 1 }, { 'data.other': 5 }] },
    none: { $nor: [{ 'data.n': 5 }] },
    window: { lastupdated: { $gt: new Date('9999-01-01') }, _id: { $exists: false } },
    tenant: { organizationid: 'somebody else' },
  };

  it('every record is in exactly one of them, whatever the filter', async () => {
    const stored = await app.products(records.length, (index) => ({ data: records[index] }));
    const all = stored.map((record) => record['id'] as string);
    for (const [name, filter] of Object.entries(filters)) {
      await app.filter('product', name, filter);
      const updates = (await app.feed('product', name).page()).ids;
      const softDeletes = (await app.softDeletes('product', name).page()).ids;
      expect([name, [...updates, ...softDeletes].sort()]).toEqual([name, all.sort()]);
    }
  });

  it('no filter widens what a page is taken from', async () => {
    const other = await service.application();
    await other.product({ id: 'foreign' });
    await app.product({ id: 'old', lastupdated: new Date('2020-01-01') });
    await app.product({ id: 'own' });
    await app.filter('product', 'wide', {
      $or: [{ organizationid: other.organizationid }, { id: { $exists: true } }],
    });
    expect((await app.feed('product', 'wide').page({ from: '2024-01-01' })).ids).toEqual(['own']);
    expect((await app.softDeletes('product', 'wide').page()).ids).toEqual([]);
  });
});

describe('a change takes effect within 2 s, with no restart', () => {
  const services = () => service.db.collection('services');

  it('of the filter', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    await app.filter('product', 'ones', { 'data.n': 2 });
    expect((await app.feed('product', 'ones').page()).ids).toEqual([]);
    await services().updateOne({ ...app.tenant, name: 'ones' }, { $set: { filter: { 'data.n': 1 } } });
    await service.watcher.caughtUp();
    expect((await app.feed('product', 'ones').page()).ids).toEqual(['a']);
  });

  it('enabled: false: as if it were not there', async () => {
    await app.filter('product', 'off', {}, { enabled: false });
    expectProblem(await app.feed('product', 'off').ask(), 404, 'unknown-service');
    await services().updateOne({ ...app.tenant, name: 'off' }, { $set: { enabled: true } });
    await service.watcher.caughtUp();
    expect((await app.feed('product', 'off').ask()).status).toBe(200);
    await services().deleteOne({ ...app.tenant, name: 'off' });
    await service.watcher.caughtUp();
    expectProblem(await app.softDeletes('product', 'off').ask(), 404, 'unknown-service');
  });
});

describe('a registered filter that is invalid or that MongoDB refuses: 500 service-misconfigured, never unfiltered data', () => {
  it.each<[string, unknown]>([
    ['$where', { $where: 'true' }],
    ['$expr', { $expr: { $eq: [1, 1] } }],
    [
      '$function in $or',
      { $or: [{ 'data.n': 1 }, { $expr: { $function: { body: 'x', args: [], lang: 'js' } } }] },
    ],
    ['no document', 'data.n'],
    ['a list', [{ a: 1 }]],
    ['null', null],
    ['a depth over 10', JSON.parse('{"a":'.repeat(11) + '1' + '}'.repeat(11))],
    ['more than 1,000 values', { 'data.n': { $in: Array.from({ length: 1001 }, (_, index) => index) } }],
    ['a regular expression that MongoDB refuses', { 'data.name': { $regex: '(' } }],
    ['$type of no type', { 'data.n': { $type: 'nonsense' } }],
    ['$mod by zero', { 'data.n': { $mod: [0, 1] } }],
  ])('%s', async (_name, filter) => {
    await app.product({ id: 'secret' });
    await app.filter('product', 'broken', filter as mongoose.mongo.Document);
    for (const feed of [app.feed('product', 'broken'), app.softDeletes('product', 'broken')]) {
      for (const query of [{ to: '9999-01-01' }, { from: '2020-01-01', to: '9999-01-01' }]) {
        const answer = await feed.ask(query);
        const body = expectProblem(answer, 500, 'service-misconfigured');
        expect(body.detail).toContain('product service "broken"');
        expect(answer.text).not.toContain('secret');
      }
    }
  });

  it('400 comes before it', async () => {
    await app.filter('product', 'broken', { $where: 'true' });
    expectProblem(await app.feed('product', 'broken').ask({ to: 'x' }), 400, 'invalid-request');
  });
});
