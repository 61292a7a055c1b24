import type { mongo } from 'mongoose';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application();
});
afterAll(() => service.stop());

const orders = () => service.db.collection('orders');
const kinds = () => service.db.collection('kinds');
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id);

/** A record of another program's collection, as the service's own look. */
async function order(fields: mongo.Document = {}): Promise<void> {
  const { insertedId } = await orders().insertOne({
    ...app.tenant,
    lastupdated: new Date(),
    data: {},
    ...fields,
  });
  if (fields['id'] === undefined)
    await orders().updateOne({ _id: insertedId }, { $set: { id: insertedId.toHexString() } });
}

it('a kind is unknown until its document is stored', async () => {
  expectProblem(await app.get('order/max'), 404, 'unknown-kind');
  for (let n = 0; n < 5; n++) await order({ id: `o${n}`, data: { n } });
  await orders().insertOne({ ...app.tenant, id: 'unstamped', data: { n: 9 } });
  await kinds().insertOne({ name: 'order', collection: 'orders' });
  await eventually(async () => (await app.get('order/max')).status === 200);
  const feed = app.feed('order');
  expect(idsOf(await feed.drain()).sort()).toEqual(['o0', 'o1', 'o2', 'o3', 'o4', 'unstamped']);
});

it('changes, deletes, filters and digests are those of any kind', async () => {
  const before = await app.max('order');
  await orders().updateOne({ id: 'o1' }, { $set: { 'data.n': 100 } });
  await orders().deleteOne({ id: 'o2' });
  await app.filter('order', 'large', { 'data.n': { $gt: 50 } });
  expect(idsOf(await app.feed('order', 'large').drain())).toEqual(['o1']);
  expect(idsOf(await app.hardDeletes('order').drain({ from: before }))).toEqual(['o2']);
  expect(idsOf(await app.feed('order').drain({ from: before }))).toEqual(['o1']);
  const to = await app.max('order');
  const digest = await app.get(`order/default/digest?to=${to.toISOString()}`);
  expect(digest.json).toMatchObject({ count: 5 });
  const changes = await app.get(`order/default/changes?from=${before.toISOString()}`);
  expect(changes.text).toContain('"id":"o1"');
  expect(changes.text).toContain('"id":"o2"');
});

it('the OpenAPI document has its paths, and metrics count its requests apart', async () => {
  const { json } = await app.getUrl('/openapi.json');
  const { paths } = json as { paths: Record<string, { get: { operationId: string; summary: string } }> };
  const updates = paths['/{org}/{app}/api/v1/order/{service}/updates']?.get;
  expect(updates?.operationId).toBe('listOrderUpdates');
  expect(updates?.summary).toBe('The orders that changed and match the filter of the service');
  const ofKind = (kind: string) => Object.keys(paths).filter((path) => path.includes(`/v1/${kind}/`)).length;
  expect(ofKind('order')).toBe(ofKind('product'));
  await app.getUrl('/admin/v1/applications/acme/shop/records/nonsense/x');
  const metrics = await app.getUrl('/metrics');
  expect(metrics.text).not.toContain('nonsense');
  expect(metrics.text).toContain('route="/:org/:app/api/v1/order/max"');
});

it('other kinds are served while the records of a new one are read', async () => {
  await app.product({ id: 'p1' });
  await service.watcher.caughtUp();
  await service.db.collection('prices').insertMany(
    Array.from({ length: 3000 }, (_, n) => ({
      ...app.tenant,
      id: `p${n}`,
      lastupdated: new Date(),
      data: {},
    })),
  );
  await kinds().insertOne({ name: 'price', collection: 'prices' });
  const statuses = new Set<number>();
  await eventually(async () => {
    statuses.add((await app.get('product/max')).status);
    return (await app.get('price/max')).status === 200;
  });
  expect([...statuses]).toEqual([200]);
  expect(await app.feed('price').drain()).toHaveLength(3000);
});

it('a kind that is removed is unknown; created again, it tells what changed meanwhile', async () => {
  const before = await app.max('order');
  const terms = () => service.db.collection('tidemark.leases').findOne();
  const { term } = (await terms())!;
  await kinds().deleteOne({ name: 'order' });
  await eventually(async () => (await app.get('order/max')).status === 404);
  await eventually(async () => (await terms())!['term'] !== term);
  await service.watcher.caughtUp();
  await orders().deleteOne({ id: 'o3' });
  await orders().updateOne({ id: 'o4' }, { $set: { 'data.n': 7 } });
  await service.watcher.caughtUp();
  await kinds().insertOne({ name: 'order', collection: 'orders' });
  await eventually(async () => (await app.get('order/max')).status === 200);
  expect(idsOf(await app.hardDeletes('order').drain({ from: before }))).toContain('o3');
  expect(idsOf(await app.feed('order').drain({ from: before }))).toContain('o4');
});
