import { type BuiltInKind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const three = (kind: BuiltInKind) => Promise.all([app[kind](), app[kind](), app[kind]()]);

async function indexNames(collection: string): Promise<string[]> {
  const indexes = await service.db
    .collection(collection)
    .indexes()
    .catch(() => []);
  return indexes.map(({ name }) => name ?? '').sort();
}

/** Waits for the deletes, and asserts that nobody was told of a fault meanwhile. */
async function deletesOf(kind: BuiltInKind, count: number): Promise<string[]> {
  const statuses = new Set<number>();
  let ids: string[] = [];
  await eventually(async () => {
    const { status } = await app.feed(kind).ask();
    statuses.add(status);
    const page = await app.hardDeletes(kind).ask();
    statuses.add(page.status);
    if (page.status === 200) ids = idsOf((page.json as { result: { id: string }[] }).result);
    return ids.length >= count;
  });
  expect([200, 503]).toEqual(expect.arrayContaining([...statuses]));
  return ids;
}

describe.each(BUILT_IN_KINDS)('a collection dropped or renamed: %s', (kind) => {
  const collection = `${kind}s`;

  it('drop: every record is a delete, and the indexes are made again', async () => {
    const records = await three(kind);
    const indexes = await indexNames(collection);
    expect(indexes.length).toBeGreaterThan(3);
    await service.watcher.caughtUp();
    await service.db.collection(collection).drop();
    expect(await deletesOf(kind, 3)).toEqual(records.map(({ id }) => String(id)).sort());
    expect(await indexNames(collection)).toEqual(indexes);
    const later = await app[kind]();
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed(kind).drain())).toEqual([later['id']]);
  });

  it('rename: likewise', async () => {
    const records = await three(kind);
    const indexes = await indexNames(collection);
    await service.watcher.caughtUp();
    await service.db.collection(collection).rename('archive');
    expect(await deletesOf(kind, 3)).toEqual(records.map(({ id }) => String(id)).sort());
    expect(await indexNames(collection)).toEqual(indexes);
  });

  it('rename of another over it: what it lacks is a delete, what it brings is delivered', async () => {
    const [gone, kept] = await three(kind);
    const indexes = await indexNames(collection);
    const brought = { ...app.tenant, id: 'brought', lastupdated: new Date(), data: {} };
    await service.db.collection<object>('staging').insertMany([kept, brought]);
    await service.watcher.caughtUp();
    await service.db.renameCollection('staging', collection, { dropTarget: true });
    expect(await deletesOf(kind, 2)).toContain(gone?.['id']);
    await eventually(async () => (await indexNames(collection)).length === indexes.length);
    expect(idsOf(await app.feed(kind).drain())).toEqual([String(kept?.['id']), 'brought'].sort());
    expect(idsOf(await app.hardDeletes(kind).drain())).not.toContain('brought');
  });
});

it('a database dropped: the service goes on with what comes after', async () => {
  await app.product();
  await service.watcher.caughtUp();
  await service.db.dropDatabase();
  await service.ready();
  await eventually(async () => (await indexNames('products')).length > 3);
  const place = await service.application();
  const product = await place.product();
  await service.watcher.caughtUp();
  expect((await place.feed('product').page()).ids).toEqual([product['id']]);
  await service.db.collection('products').deleteOne({ _id: product._id });
  await service.watcher.caughtUp();
  expect((await place.hardDeletes('product').page()).ids).toEqual([product['id']]);
});
