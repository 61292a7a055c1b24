import Database from 'libsql';
import { type CopyStore, Harvester, repair, verify } from '../../client/src/harvest/index.js';
import { type CopyPlace, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { bike, BIKES, bikesIn, bikesOf, stampsIn, tent } from './harvest-client.js';

const RECORDS = Number(process.env['HARVEST_VERIFY_RECORDS'] ?? 20_000);
const BATCH = 10_000;
const SPOILED = 25;

let service: TestService;
let app: TestApplication;
let place: CopyPlace;
let store: CopyStore;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
  for (let begin = 0; begin < RECORDS; begin += BATCH)
    await app.products(BATCH, (n) => bike(`b${begin + n}`, n));
  await app.products(100, (n) => tent(`t${n}`));
  await service.watcher.caughtUp();
  place = await sqliteCopies().fresh();
  store = await place.open();
});
afterAll(async () => {
  await store.close();
  await place.remove();
});

/** 25 records, by another program: a third with another stamp, a third removed, a third that nobody told of. */
function spoil(): string[] {
  const database = new Database(place.to);
  const ids = Array.from({ length: SPOILED }, (_, n) => `b${Math.floor((n * RECORDS) / SPOILED) + 7}`);
  const columns = 'lastupdated, type, createDate, createdBy, data, channels, generation';
  const spoiled = ids.map((id, n) => {
    if (n % 3 === 0)
      database.prepare("UPDATE products SET lastupdated = '2001-01-01T00:00:00.000Z' WHERE id = ?").run(id);
    else if (n % 3 === 1) database.prepare('DELETE FROM products WHERE id = ?').run(id);
    else
      database
        .prepare(
          `INSERT INTO products (id, ${columns}) SELECT 'x' || id, ${columns} FROM products WHERE id = ?`,
        )
        .run(id);
    return n % 3 === 2 ? `x${id}` : id;
  });
  database.close();
  return spoiled.sort();
}

it(`finds exactly the ${SPOILED} of ${RECORDS} that are spoiled, in at most 40 requests, and mends them`, async () => {
  const { source, asked } = bikesOf(app);
  const compared = { source, store, harvester: new Harvester(source, store) };
  expect(await verify(compared)).toMatchObject({ differences: [], count: RECORDS });
  const spoiled = spoil();
  asked.length = 0;
  const verified = await verify(compared);
  expect(verified.differences.map(({ id }) => id)).toEqual(spoiled);
  expect(asked.length).toBeLessThanOrEqual(40);
  process.stdout.write(`verify of ${RECORDS}: ${asked.length} requests\n`);
  const { left } = await repair(compared, verified);
  expect(left.differences).toEqual([]);
  expect(await stampsIn(place)).toEqual(await bikesIn(app));
});

it('what changes while it is verified is no difference', async () => {
  const { source } = bikesOf(app);
  const writing = { ...source };
  const products = service.db.collection('products');
  let n = 0;
  writing.digest = async (told) => {
    const some = Array.from({ length: 20 }, () => `b${(n += 1)}`);
    const change = { $set: { 'data.n': n }, $currentDate: { lastupdated: true as const } };
    await products.updateMany({ ...app.tenant, id: { $in: some } }, change);
    await products.deleteOne({ ...app.tenant, id: `b${(n += 1)}` });
    return source.digest(told);
  };
  const compared = { source: writing, store, harvester: new Harvester(writing, store) };
  expect((await verify(compared)).differences).toEqual([]);
  expect(n).toBeGreaterThan(20);
});

it('an NDJSON copy is verified and mended likewise', async () => {
  const small = await service.application();
  await small.filter('product', BIKES, { 'data.category': BIKES });
  await small.products(50, (n) => bike(`b${n}`));
  await service.watcher.caughtUp();
  const file = await ndjsonCopies().fresh();
  const log = await file.open();
  const { source } = bikesOf(small);
  const compared = { source, store: log, harvester: new Harvester(source, log, 20) };
  await compared.harvester.harvest();
  await log.mend({ upserts: [], removed: ['b7', 'b8'], state: (await log.state())! });
  const verified = await verify(compared);
  expect(verified.differences.map(({ id }) => id)).toEqual(['b7', 'b8']);
  expect((await repair(compared, verified)).left.differences).toEqual([]);
  expect(await stampsIn(file)).toEqual(await bikesIn(small));
  await log.close();
  await file.remove();
});
