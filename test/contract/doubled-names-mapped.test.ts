/** @depends-on-server */
import { mongo } from 'mongoose';
import { type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { WARE } from '../support/wares.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

/** A doubled name can end mongod, so this file has one of its own. */
let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;

const TENANT = { organizationid: 'acme', appid: 'shop' };
const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');
const SECRET = 'canary-77aa';
const DOUBLED = ['sku', 'updatedAt', 'organizationid', 'name'];

type Fields = [string, unknown][];

/** A ware in which one field stands twice. */
function doubled(name: string): Uint8Array {
  const fields: Fields = Object.entries({ ...TENANT, sku: name, updatedAt: new Date(), name: 'one' });
  const twice = fields.flatMap((field) => (field[0] === name ? [field, field] : [field]));
  return rawDocument([['_id', new mongo.ObjectId()], ...twice]);
}

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.withWares({}, async (db) => {
    const uri = new URL(db.databaseName, mongod.uri).href;
    await insertRaw(uri, 'ware_list', ...DOUBLED.map(doubled));
  });
  app = await service.application(TENANT);
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

const wares = () => service.db.collection('ware_list');

async function write(sku: string, fields: Fields): Promise<mongo.ObjectId> {
  const _id = new mongo.ObjectId();
  const all: Fields = [['_id', _id], ...Object.entries(TENANT), ['sku', sku], ...fields];
  await insertRaw(service.uri, 'ware_list', rawDocument(all));
  await service.watcher.caughtUp();
  return _id;
}

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

it('a first pass learns them, and sets none aside', async () => {
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed(WARE).drain())).toEqual([...DOUBLED].sort());
  expect(await service.db.collection('tidemark.quarantine').countDocuments()).toBe(0);
});

it('the digest counts what `updates` delivers', async () => {
  const to = (await app.max(WARE)).toISOString();
  const items = await app.feed(WARE).drain({ to });
  const { json } = await app.get(`${WARE}/default/digest`, { query: { to } });
  expect(json).toMatchObject({ count: items.length });
});

it('a doubled stamp that comes too late is replaced, and stands once', async () => {
  await app.put(WARE);
  await service.watcher.caughtUp();
  const before = await app.max(WARE);
  const _id = await write('late', [
    ['updatedAt', LONG_AGO],
    ['name', 'Late'],
    ['updatedAt', LONG_AGO],
  ]);
  expect(await app.feed(WARE).drain({ from: before })).toMatchObject([
    { id: 'late', data: { name: 'Late' } },
  ]);
  const raw = (await wares().findOne({ _id }, { raw: true })) as unknown as Uint8Array;
  expect(Buffer.from(raw).toString('latin1').split('updatedAt\0')).toHaveLength(2);
});

it('a doubled id that is no text is repaired: the record gets a UUID', async () => {
  const before = await app.max(WARE);
  const _id = new mongo.ObjectId();
  const fields: Fields = [
    ['_id', _id],
    ...Object.entries(TENANT),
    ['sku', null],
    ['name', 'Odd'],
    ['sku', null],
  ];
  await insertRaw(service.uri, 'ware_list', rawDocument(fields));
  await service.watcher.caughtUp();
  const items = await app.feed(WARE).drain({ from: before });
  expect(items).toMatchObject([
    { id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/), data: { name: 'Odd' } },
  ]);
});

it('a doubled id counts as the first one, in the feed and in the hard delete', async () => {
  const before = await app.max(WARE);
  const _id = await write('first', [['sku', 'second']]);
  expect(idsOf(await app.feed(WARE).drain({ from: before }))).toEqual(['first']);
  await wares().deleteOne({ _id });
  await service.watcher.caughtUp();
  expect(idsOf(await app.hardDeletes(WARE).drain({ from: before }))).toEqual(['first']);
});

it('a hidden field is hidden as often as it stands there, and an edit of the filter stamps the record', async () => {
  await app.filter(WARE, 'open', { 'data.name': 'Ann' }, { fields: { except: ['data.secret'] } });
  await app.filter(WARE, 'hashed', {}, { hash: ['data.secret'] });
  await write('hidden', [
    ['secret', SECRET],
    ['name', 'Ann'],
    ['secret', `${SECRET}-again`],
  ]);
  for (const name of ['open', 'hashed']) {
    const items = await app.feed(WARE, name).drain();
    expect(idsOf(items)).toContain('hidden');
    expect(JSON.stringify(items)).not.toContain(SECRET);
  }
  const before = await app.max(WARE);
  const edit = { $set: { filter: { 'data.name': 'Bob' } } };
  await service.db.collection('services').updateOne({ ...TENANT, name: 'open' }, edit);
  await service.watcher.caughtUp();
  expect(idsOf(await app.softDeletes(WARE, 'open').drain({ from: before }))).toEqual(['hidden']);
});

it('each gets a hard delete', async () => {
  const living = idsOf(await app.feed(WARE).drain());
  const before = await app.max(WARE);
  await wares().deleteMany({});
  await service.watcher.caughtUp();
  expect(idsOf(await app.hardDeletes(WARE).drain({ from: before }))).toEqual(living);
});
