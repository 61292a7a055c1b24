import { type TestApplication, TestService } from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const MANY = 600;
const ids = Array.from({ length: MANY }, (_, n) => `r${n}`);
const insert = () =>
  service.db.collection('products').insertMany(ids.map((id) => ({ ...app.tenant, id, data: {} })));

it('records that come back under deleted ids are brought back in bulk, above their hard deletes', async () => {
  await insert();
  await service.watcher.caughtUp();
  await service.db.collection('products').deleteMany(app.tenant);
  await service.watcher.caughtUp();
  const deletes = await app.hardDeletes('product').drain();
  const latest = deletes
    .map(({ lastUpdated = '' }) => lastUpdated)
    .sort()
    .at(-1)!;
  const commands = await commandsDuring(service.db, async () => {
    await insert();
    await service.watcher.caughtUp();
  });
  const names = commands.map(nameOf);
  const times = (name: string) => names.filter((one) => one === name).length;
  const inBulk = ['find tidemark.ledger', 'update tidemark.ledger', 'find products', 'update products'];
  expect(inBulk.filter((name) => times(name) >= MANY / 5)).toEqual([]);
  expect(times('insert tidemark.ledger')).toBe(0);
  expect(names.filter((name) => /findandmodify/i.test(name) && name.endsWith('tidemark.ledger'))).toEqual([]);
  expect((await app.hardDeletes('product').page()).ids).toEqual([]);
  const items = await app.feed('product').drain();
  expect(items.length).toBe(MANY);
  expect(items.filter(({ lastupdated = '' }) => lastupdated <= latest)).toEqual([]);
  expect(await stampedWithEntries()).toBe(MANY);
});

/** Records that were stamped in the transaction in which their hard deletes became living entries. */
async function stampedWithEntries(): Promise<number> {
  const { client, databaseName } = service.db;
  const ledger = `${databaseName}.tidemark.ledger`;
  const transactions = await client
    .db('local')
    .collection<{ o: { applyOps: { op: string; ns: string }[] } }>('oplog.rs')
    .find({ 'o.applyOps.ns': ledger })
    .toArray();
  const writes = transactions.flatMap(({ o }) => o.applyOps);
  return writes.filter(({ op, ns }) => op === 'u' && ns === `${databaseName}.products`).length;
}
