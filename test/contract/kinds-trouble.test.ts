import type { mongo } from 'mongoose';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let last: TestService;
let app: TestApplication;
beforeAll(async () => {
  last = service = await TestService.start();
  app = await service.application();
  await app.product({ id: 'p1' });
});
afterAll(() => last.stop());

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const record = (id: unknown, fields: mongo.Document = {}) => ({
  ...{ ...app.tenant, id, lastupdated: new Date(), data: {} },
  ...fields,
});
const create = (name: string, collection: string, fields: mongo.Document = {}) =>
  service.db.collection('kinds').insertOne({ name, collection, ...fields });
const isServed = (kind: string) => eventually(async () => (await app.get(`${kind}/max`)).status === 200);

/** The kind waits, and all else is served as before. */
async function onlyThisWaits(kind: string): Promise<void> {
  await eventually(async () => (await app.get(`${kind}/max`)).status === 503);
  expectProblem(await app.get(`${kind}/max`), 503, 'preparing');
  const before = await app.max('product');
  await app.product({ id: `beside-${kind}` });
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed('product').drain({ from: before }))).toEqual([`beside-${kind}`]);
  expect((await send(`${service.url}/health/ready`, 'GET', {})).status).toBe(200);
}

describe('what is wrong with the collection of a kind concerns only that kind', () => {
  it('a view', async () => {
    await service.db.createCollection('a_view', { viewOn: 'products', pipeline: [] });
    await create('viewed', 'a_view');
    await onlyThisWaits('viewed');
    await service.db.collection('a_view').drop();
    await service.db.collection('a_view').insertOne(record('v1'));
    await isServed('viewed');
    expect(idsOf(await app.feed('viewed').drain())).toEqual(['v1']);
  });

  it('an id that occurs twice, so that its index cannot be made', async () => {
    await service.db.collection('twins').insertMany([record('t1'), record('t1'), record('t2')]);
    await create('twin', 'twins');
    await onlyThisWaits('twin');
    await service.db.collection('twins').deleteOne({ id: 't1' });
    await isServed('twin');
    expect(idsOf(await app.feed('twin').drain())).toEqual(['t1', 't2']);
  });

  it('a collection that does not exist yet is one without records', async () => {
    await create('later', 'laters');
    await isServed('later');
    expect(await app.feed('later').drain()).toEqual([]);
    await service.db.collection('laters').insertOne(record('l1'));
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed('later').drain())).toEqual(['l1']);
  });
});

it('a document by hand that cannot be read is no kind, and stops nothing', async () => {
  await create('Capital', 'capitals');
  await create('hidden', 'credentials');
  await create('halved', 'halves', { organizationid: 'acme' });
  await create('after', 'afters');
  await isServed('after');
  for (const name of ['Capital', 'hidden', 'halved'])
    expectProblem(await app.get(`${name}/max`), 404, 'unknown-kind');
});

it('a collection that is dropped has deleted its records', async () => {
  await service.db.collection('dropped').insertMany([record('d1'), record('d2')]);
  await create('drop', 'dropped');
  await isServed('drop');
  const before = await app.max('drop');
  await service.db.collection('dropped').drop();
  await eventually(
    async () => (await app.get('drop/max')).status === 200 && (await app.max('drop')) > before,
  );
  expect(idsOf(await app.hardDeletes('drop').drain({ from: before }))).toEqual(['d1', 'd2']);
});

it('a pass that a new leader has to begin again delivers everything once, and deletes that came meanwhile', async () => {
  const records = service.db.collection('handed');
  await records.insertMany(Array.from({ length: 5000 }, (_, n) => record(`h${n}`)));
  await create('handing', 'handed');
  const second = (last = await service.another());
  await eventually(async () => (await app.get('handing/max')).status === 503);
  await service.leave();
  await records.deleteMany({ id: { $in: ['h0', 'h4999'] } });
  const seen = app.seenBy(second);
  await eventually(async () => (await seen.get('handing/max')).status === 200);
  const ids = new Set(idsOf(await seen.feed('handing').drain()));
  expect(ids.size).toBe(4998);
  expect(ids.has('h0')).toBe(false);
});
