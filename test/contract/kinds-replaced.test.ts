/** @depends-on-server */
import type { mongo } from 'mongoose';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { commandsDuring } from './profiler.js';
import { schemaOf } from './told-schema.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application();
});
afterAll(() => service.stop());

const SHAPE = { id: 'sku', lastupdated: 'updatedAt', data: false };
const kinds = () => service.db.collection('kinds');
const records = (name: string) => service.db.collection(name);
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const statusOf = async (kind: string) => (await app.get(`${kind}/max`)).status;
const isServed = (kind: string) => eventually(async () => (await statusOf(kind)) === 200);

async function create(name: string, collection: string, shape: mongo.Document = SHAPE) {
  const { insertedId } = await kinds().insertOne({ name, collection, ...app.tenant, ...shape });
  return insertedId;
}

/** The leader has begun a pass of its own for the stored document. */
async function isPassedAnew(kind: string, change: () => Promise<unknown>): Promise<void> {
  const documentIn = async () => {
    const lease = await service.db.collection('tidemark.leases').findOne();
    const passed = (lease?.['kinds'] ?? []) as { kind: string; document: string; since?: unknown }[];
    return passed.find((one) => one.kind === kind && one.since !== undefined)?.document;
  };
  const before = await documentIn();
  await change();
  await eventually(async () => ![before, undefined].includes(await documentIn()));
  await isServed(kind);
}

it('a kind whose document is edited is another kind: what it showed is deleted, and what it shows now is delivered', async () => {
  await records('ea').insertMany([{ sku: 'a1', updatedAt: new Date() }]);
  await records('eb').insertMany([{ sku: 'b1', updatedAt: new Date(0) }, { sku: 'b2' }]);
  const _id = await create('edited', 'ea');
  await isServed('edited');
  const before = await app.max('edited');
  await isPassedAnew('edited', () => kinds().updateOne({ _id }, { $set: { collection: 'eb' } }));
  expect(idsOf(await app.feed('edited').drain({ from: before }))).toEqual(['b1', 'b2']);
  expect(idsOf(await app.hardDeletes('edited').drain({ from: before }))).toEqual(['a1']);
});

it('a kind that is removed and put back with its _id delivers what happened meanwhile', async () => {
  await records('back').insertMany([{ sku: 'a' }, { sku: 'b' }]);
  const _id = await create('back', 'back');
  await isServed('back');
  const before = await app.max('back');
  const stored = (await kinds().findOne({ _id }))!;
  await kinds().deleteOne({ _id });
  const isForgotten = { 'kinds.kind': { $ne: 'back' } };
  await eventually(
    async () => (await service.db.collection('tidemark.leases').countDocuments(isForgotten)) === 1,
  );
  await service.watcher.caughtUp();
  await records('back').deleteOne({ sku: 'a' });
  await records('back').insertOne({ sku: 'c', updatedAt: new Date(0) });
  await service.watcher.caughtUp();
  await kinds().insertOne(stored);
  await isServed('back');
  expect(idsOf(await app.feed('back').drain({ from: before }))).toEqual(['b', 'c']);
  expect(idsOf(await app.hardDeletes('back').drain({ from: before }))).toEqual(['a']);
});

it('a kind that was read while it had no records delivers all of them when it is another kind', async () => {
  const _id = await create('vacant', 'va');
  await isServed('vacant');
  const { to } = await app.feed('vacant').page();
  expect(await app.feed('vacant').drain({ to })).toEqual([]);
  await records('vb').insertOne({ sku: 'v', updatedAt: new Date(0) });
  await isPassedAnew('vacant', () => kinds().updateOne({ _id }, { $set: { collection: 'vb' } }));
  expect(idsOf(await app.feed('vacant').drain({ from: to }))).toEqual(['v']);
});

it('whether a new kind existed before is found without a read of the whole ledger', async () => {
  const dead = { ...app.tenant, kind: 'product', alive: false, lastupdated: new Date(), learned: '' };
  await service.db
    .collection('tidemark.ledger')
    .insertMany(Array.from({ length: 3000 }, (_, index) => ({ ...dead, id: `gone-${index}` })));
  const commands = await commandsDuring(service.db, async () => {
    await create('fresh', 'fresh');
    await isServed('fresh');
  });
  const searches = commands.filter(
    ({ command: { find, filter } }) =>
      find === 'tidemark.ledger' && (filter as { kind?: unknown }).kind === 'fresh',
  );
  expect(searches).not.toEqual([]);
  for (const { keysExamined, docsExamined } of searches)
    expect(keysExamined! + docsExamined!).toBeLessThan(100);
});

it('a kind that is replaced at once by one with another shape gets the indexes of that shape', async () => {
  await records('shaped').insertOne({ sku: 's', code: 'c', updatedAt: new Date(), at: new Date() });
  const _id = await create('shaped', 'shaped');
  await isServed('shaped');
  const shape = { id: 'code', lastupdated: 'at', data: false };
  await kinds().replaceOne({ _id }, { name: 'shaped', collection: 'shaped', ...app.tenant, ...shape });
  await eventually(async () => {
    const answer = await app.get(`shaped/default/updates?to=${new Date(Date.now() - 1).toISOString()}`);
    return answer.text.includes('"id":"c"');
  });
  const keys = (await records('shaped').indexes()).map(({ key }) => Object.keys(key as object).join());
  expect(keys).toEqual(expect.arrayContaining(['at,_id', 'code']));
});

it('the schema of a kind names nothing of an earlier kind of that name, and neither does what is stored', async () => {
  const numbered = (names: string[]) =>
    Array.from({ length: 25 }, (_, at) => ({
      sku: `s${at}`,
      ...Object.fromEntries(names.map((name) => [name, 1])),
    }));
  await records('sa').insertMany(numbered(['earlier']));
  await records('sb').insertMany(numbered(['later']));
  const stored = async () =>
    JSON.stringify(
      await service.db.collection('tidemark.schemas').findOne({ ...app.tenant, kind: 'schemed' }),
    );
  const _id = await create('schemed', 'sa');
  await isServed('schemed');
  await eventually(async () => JSON.stringify(await schemaOf(app, 'default', 'schemed')).includes('earlier'));
  await isPassedAnew('schemed', () => kinds().updateOne({ _id }, { $set: { collection: 'sb' } }));
  await eventually(async () => JSON.stringify(await schemaOf(app, 'default', 'schemed')).includes('later'));
  const schema = await schemaOf(app, 'default', 'schemed');
  expect(JSON.stringify(schema)).not.toContain('earlier');
  expect(Object.keys(schema.properties!)).not.toContain('channels');
  expect(await stored()).not.toContain('earlier');
  await kinds().deleteOne({ _id });
  await eventually(async () => !(await stored()).includes('later'));
});

it('a kind whose pass cannot succeed does not keep a later one from its pass', async () => {
  await service.db.createCollection('a_view', { viewOn: 'products', pipeline: [] });
  await create('aaa', 'a_view');
  await eventually(async () => (await statusOf('aaa')) === 503);
  await records('fine').insertOne({ sku: 'f', updatedAt: new Date() });
  await create('bbb', 'fine');
  await isServed('bbb');
  expect(await statusOf('aaa')).toBe(503);
  expect(idsOf(await app.feed('bbb').drain())).toEqual(['f']);
});
