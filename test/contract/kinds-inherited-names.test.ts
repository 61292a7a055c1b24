import { eventually, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application();
});
afterAll(() => service.stop());

/** Names that every object of JavaScript inherits. */
it.each([
  ['racer', 'constructor'],
  ['proto', '__proto__'],
  ['constructor', 'makers'],
])(
  'the kind %s over the collection %s is served, and so is everything beside it',
  async (kind, collection) => {
    await service.db.collection('kinds').insertOne({ name: kind, collection });
    await eventually(async () => (await app.get(`${kind}/max`)).status === 200);
    const records = service.db.collection(collection);
    const record = (id: string) => ({ ...app.tenant, id, lastupdated: new Date(), data: { n: 1 } });
    await records.insertMany([record('kept'), record('gone')]);
    await service.watcher.caughtUp();
    await records.updateOne({ id: 'kept' }, { $set: { 'data.n': 2 } });
    await records.deleteOne({ id: 'gone' });
    await app.product({ id: `beside ${kind}` });
    await service.watcher.caughtUp();
    const { items } = await app.feed(kind).page();
    expect(items).toEqual([expect.objectContaining({ id: 'kept', type: kind, data: { n: 2 } })]);
    expect(await app.hardDeletes(kind).drain()).toEqual([expect.objectContaining({ id: 'gone' })]);
    const products = await app.feed('product').drain();
    expect(products.map((product) => product.id)).toContain(`beside ${kind}`);
    const listed = await new AdminConsole(service.uri).json<{ name: string; state: string }[]>('kind list');
    expect(listed).toContainEqual(expect.objectContaining({ name: kind, state: 'ready' }));
  },
);
