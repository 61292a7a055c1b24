/** @depends-on-server */
import { mongo } from 'mongoose';
import { AdminConsole } from './admin-console.js';
import { counts, ImportOperator } from './import-operator.js';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let other: TestApplication;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application();
  other = await service.application();
});
afterAll(() => service.stop());

/** A collection as a shop made it: no application, its own id and stamp, all fields at the top. */
const goods = () => service.db.collection('shop_goods');
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

beforeAll(async () => {
  await goods().insertMany([
    {
      sku: 'a',
      updatedAt: new Date(),
      name: 'Ant',
      price: { amount: 5 },
      id: 7,
      type: 'toy',
      channels: 'none',
    },
    { sku: 'b', updatedAt: new Date(), name: 'Bee', price: { amount: 50 } },
    { sku: 'c', name: 'Cat', price: { amount: 500 } },
    { name: 'without an id' },
  ]);
  await service.db.collection('kinds').insertOne({
    ...{ name: 'good', collection: 'shop_goods', id: 'sku', lastupdated: 'updatedAt', data: false },
    ...app.tenant,
  });
  await eventually(async () => (await app.get('good/max')).status === 200);
});

it('items show all other fields as their data, and nothing is renamed in the records', async () => {
  const items = await app.feed('good').drain();
  const first = items.find(({ id }) => id === 'a');
  expect(first).toEqual({
    id: 'a',
    type: 'good',
    createDate: expect.any(String),
    createdBy: '',
    lastupdated: expect.any(String),
    data: { name: 'Ant', price: { amount: 5 }, id: 7, type: 'toy', channels: 'none' },
  });
  const stored = await goods().find().sort({ _id: 1 }).toArray();
  const given = String(stored[3]?.['sku']);
  expect(stored.map(({ sku }) => sku as unknown)).toEqual(['a', 'b', 'c', given]);
  expect(Object.keys(stored[2]!).sort()).toEqual(['_id', 'name', 'price', 'sku', 'updatedAt']);
  expect(idsOf(items)).toEqual(['a', 'b', 'c', given].sort());
});

it('the schema is of what items show', async () => {
  const { status, json, text } = await app.get('good/default/schema');
  expect([status, text]).toEqual([200, expect.not.stringContaining('sku')]);
  const { properties } = json as { properties: { data: { properties: Record<string, object> } } };
  expect(Object.keys(properties.data.properties)).toEqual(['channels', 'id', 'name', 'price', 'type']);
});

it('another application has no such kind', async () => {
  expectProblem(await other.get('good/max'), 404, 'unknown-kind');
  expectProblem(await other.get('good/default/changes'), 404, 'unknown-kind');
});

it('updates, new ids, replacements and deletes are seen, however other programs write them', async () => {
  const before = await app.max('good');
  const inserted = await goods().insertOne({ sku: 'd', name: 'Dog' });
  await goods().updateOne({ sku: 'a' }, { $set: { 'price.amount': 6 } });
  await goods().updateOne({ sku: 'b' }, { $set: { sku: 'b2' } });
  await goods().replaceOne({ sku: 'c' }, { sku: 'c', updatedAt: new Date('2020-01-01'), name: 'Cat II' });
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed('good').drain({ from: before }))).toEqual(['a', 'b2', 'c', 'd']);
  expect(idsOf(await app.hardDeletes('good').drain({ from: before }))).toEqual(['b']);
  const then = await app.max('good');
  await goods().deleteOne({ _id: inserted.insertedId });
  await service.watcher.caughtUp();
  expect(idsOf(await app.hardDeletes('good').drain({ from: then }))).toEqual(['d']);
  await goods().insertOne({ sku: 'd', name: 'Dog again', updatedAt: new Date('2020-01-01') });
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed('good').drain({ from: then }))).toEqual(['d']);
  expect(await app.hardDeletes('good').drain({ from: then })).toEqual([]);
});

it('filters, fields, digests and paging speak of them as items show them', async () => {
  await app.filter(
    'good',
    'dear',
    { 'data.price.amount': { $gt: 10 } },
    { fields: { except: ['data.name'] } },
  );
  // Stored names would tell of fields that the service hides.
  await app.filter('good', 'sly', { name: 'Bee' }, { fields: { except: ['data.name'] } });
  expect(await app.feed('good', 'sly').drain()).toEqual([]);
  const [dear] = await app.feed('good', 'dear').drain();
  expect(dear).toMatchObject({ id: 'b2', data: { price: { amount: 50 } } });
  expect(dear?.data).not.toHaveProperty('name');
  const soft = await app.softDeletes('good', 'dear').drain();
  expect(idsOf(soft)).toContain('a');
  const to = (await app.max('good')).toISOString();
  const digest = await app.get(`good/default/digest?to=${to}`);
  expect(digest.json).toMatchObject({ count: (await app.feed('good').drain()).length });
  const pages = await app.feed('good').drain({ limit: 1 });
  expect(idsOf(pages)).toEqual(idsOf(await app.feed('good').drain()));
});

it('late stamps are raised, and bulks of other programs are delivered', async () => {
  await goods().insertMany(Array.from({ length: 300 }, (_, n) => ({ sku: `bulk${n}`, n })));
  const before = await app.max('good');
  await goods().updateMany({ n: { $lt: 100 } }, { $set: { late: true, updatedAt: new Date(0) } });
  await goods().deleteMany({ n: { $gte: 200 } });
  await service.watcher.caughtUp();
  const changed = await app.feed('good').drain({ from: before });
  expect(changed.filter(({ data }) => data?.['late'] === true)).toHaveLength(100);
  expect(await app.hardDeletes('good').drain({ from: before })).toHaveLength(100);
});

it('a record whose _id is no ObjectId is not delivered, and stops nothing', async () => {
  await goods().insertOne({ _id: 'text' as unknown as mongo.ObjectId, sku: 'odd' });
  await goods().insertOne({ sku: 'after' });
  await service.watcher.caughtUp();
  const ids = idsOf(await app.feed('good').drain());
  expect(ids).toContain('after');
  expect(ids).not.toContain('odd');
});

describe('the commands write them as their collection does', () => {
  const line = (id: string, data: object) => ({ id, type: 'good', data });
  const stored = (sku: string) => goods().findOne({ sku }, { projection: { _id: 0 } });

  it('import', async () => {
    const operator = new ImportOperator(service, app);
    expect(await operator.load([line('i1', { name: 'New', n: 1 }), line('i2', { n: 2 })], 'good')).toEqual(
      counts(2),
    );
    expect(await stored('i1')).toEqual({ name: 'New', n: 1, sku: 'i1', updatedAt: expect.any(Date) });
    const before = await stored('i2');
    expect(await operator.load([line('i1', { name: 'Other', n: 1 }), line('i2', { n: 2 })], 'good')).toEqual(
      counts(0, 1, 1),
    );
    expect(await stored('i2')).toEqual(before);
    expect(Object.entries((await stored('i1')) ?? {}).map(([name]) => name)).toEqual([
      ...['name', 'n', 'sku', 'updatedAt'],
    ]);
    expect((await operator.items('good'))['i1']?.data).toEqual({ name: 'Other', n: 1 });
    const bad = await operator.try([line('i3', { sku: 'taken' })], 'good');
    expect(bad.code).toBe(1);
    expect(bad.errors.join()).toContain('data.sku would overwrite a field of the record itself');
    expect(await stored('i3')).toBeNull();
  });

  it('import --mirror removes what the file lacks, and leaves the rest as it is stored', async () => {
    const operator = new ImportOperator(service, app);
    await goods().deleteOne({ sku: 'odd' });
    const before = await app.max('good');
    const items = Object.values(await operator.items('good'));
    const kept = items.filter(({ id }) => id !== 'i2').map(({ id, data }) => line(id, data as object));
    const records = await goods()
      .find({ sku: { $ne: 'i2' } })
      .sort({ _id: 1 })
      .toArray();
    const { code, output } = await operator.try(kept, 'good', '--mirror --json');
    expect([code, JSON.parse(output)]).toMatchObject([0, { unchanged: kept.length, bad: 0, removed: 1 }]);
    await service.watcher.caughtUp();
    expect(await goods().find().sort({ _id: 1 }).toArray()).toEqual(records);
    expect(idsOf(await app.hardDeletes('good').drain({ from: before }))).toEqual(['i2']);
  });

  it('import into another application is refused: the record would belong to this one', async () => {
    for (const more of ['', '--dry-run']) {
      const { code, errors } = await new ImportOperator(service, other).try([line('i9', {})], 'good', more);
      expect([code, errors]).toEqual([
        1,
        [
          `--kind "good" is fixed to another application: ${other.organizationid}/${other.appid} has no such records.`,
        ],
      ]);
    }
    expect(await stored('i9')).toBeNull();
  });

  it('record show and record delete', async () => {
    const admin = new AdminConsole(service.uri);
    const words = (command: string, id: string) => [
      ...[...command.split(' '), '--org', app.organizationid, '--app', app.appid],
      ...['--kind', 'good', '--id', id],
    ];
    const shown = await admin.run(words('record show', 'i1'));
    expect(shown.output).toContain('Other');
    const before = await app.max('good');
    expect((await admin.run(words('record delete', 'i1'))).code).toBe(0);
    await service.watcher.caughtUp();
    expect(await stored('i1')).toBeNull();
    expect(idsOf(await app.hardDeletes('good').drain({ from: before }))).toEqual(['i1']);
  });

  it('kind create refuses a field that holds something else than ids or dates', async () => {
    const admin = new AdminConsole(service.uri);
    await service.db
      .collection('odd')
      .insertMany([{ id: 'a' }, { id: new mongo.ObjectId(), at: 'yesterday' }]);
    const said = async (more: string) => {
      const { code, errors } = await admin.run(`kind create --name odd --collection odd ${more}`);
      expect(code).toBe(1);
      return errors.join();
    };
    expect(await said('')).toContain('--id "id" holds a value of type objectId in some records');
    expect(await said('--id key --lastupdated at')).toContain(
      '--lastupdated "at" holds a value of type string',
    );
    expect(await service.db.collection('kinds').countDocuments({ name: 'odd' })).toBe(0);
  });

  it('kind create refuses an id that no record has, and records of no application', async () => {
    const admin = new AdminConsole(service.uri);
    const plain = service.db.collection('plain_goods');
    await plain.insertMany([{ sku: 'a' }, { sku: 'b' }]);
    const create = (more: string) => admin.run(`kind create --name plain --collection plain_goods ${more}`);
    const ofApp = `--org ${app.organizationid} --app ${app.appid}`;
    expect((await create(`--id skuu ${ofApp}`)).errors.join()).toContain(
      '--id "skuu" is in none of the first 10,000 records, and the service writes an id into each record without one.',
    );
    expect((await create('--id sku')).errors.join()).toContain(
      '--org is missing, and none of the first 10,000 records names an organization and an application.',
    );
    const kinds = `${service.url}/admin/v1/kinds`;
    const user = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
    const body = { name: 'plain', collection: 'plain_goods', id: 'skuu' };
    const answer = expectProblem(await send(kinds, 'POST', { user, body }), 400, 'invalid-request');
    expect(answer.errors).toEqual([{ pointer: '/id', detail: expect.stringContaining('is in none of') }]);
    expect(await service.db.collection('kinds').countDocuments({ name: 'plain' })).toBe(0);
    expect(await plain.countDocuments({ id: { $exists: true } })).toBe(0);
    expect((await create(`--id sku ${ofApp}`)).code).toBe(0);
    await admin.run('kind remove --name plain');
  });
});
