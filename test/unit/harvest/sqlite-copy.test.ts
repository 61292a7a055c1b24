import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import {
  CopyTakenError,
  Harvester,
  OtherFeedError,
  repair,
  verify,
} from '../../../client/src/harvest/index.js';
import { SqliteStore } from '../../../client/src/stores/sqlite.js';
import { upsert } from './changes.js';
import { SimulatedService } from './simulated-service.js';

let folder: string;
let service: SimulatedService;
let stores: SqliteStore[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-copy-'));
  service = new SimulatedService();
  stores = [];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await rm(folder, { recursive: true });
});

/** As another process has it. */
function opened() {
  const store = SqliteStore.open(join(folder, 'copy.sqlite'), 'products');
  stores.push(store);
  return { source: service, store, harvester: new Harvester(service, store, 10) };
}

async function heldIn({ store }: { store: SqliteStore }): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of store.held()) ids.push(...batch.map(({ id }) => id));
  return ids.sort();
}

it('repair leaves a copy alone that another harvest has written to since it was compared', async () => {
  for (const id of ['a', 'b']) service.write(id);
  const mine = opened();
  const other = opened();
  await mine.harvester.harvest();
  const stray = upsert('stray', '1970-01-01T00:00:00.001Z');
  await mine.store.mend({ upserts: [stray], removed: [], state: (await mine.store.state())! });
  const verified = await verify(mine);
  expect(verified.differences.map(({ id }) => id)).toEqual(['stray']);
  service.write('stray');
  await other.harvester.harvest();
  await expect(repair(mine, verified)).rejects.toThrow(CopyTakenError);
  expect(await heldIn(mine)).toEqual(['a', 'b', 'stray']);
});

it('holds ids with every character', async () => {
  const ids = ['a', 'a\0b', 'a\0', '\0', '', '__proto__', "it's", '😀', '\ufeffa'];
  for (const id of ids) service.write(id);
  const mine = opened();
  await mine.harvester.harvest();
  expect(await heldIn(mine)).toEqual([...ids].sort());
  expect((await verify(mine)).differences).toEqual([]);
});

it('a record to which a table of the user refers is noted where it is to be removed, and stops nothing', async () => {
  for (const id of ['a', 'b', 'c', 'd']) service.write(id);
  const mine = opened();
  await mine.harvester.harvest();
  const user = new Database(join(folder, 'copy.sqlite'));
  user.exec(
    "PRAGMA foreign_keys = ON; CREATE TABLE orders (product TEXT REFERENCES products(id)); INSERT INTO orders VALUES ('b')",
  );
  for (const id of ['b', 'c']) service.remove(id);
  await mine.harvester.harvest();
  const noted = [{ id: 'b', isRemoval: true, reason: 'FOREIGN KEY constraint failed' }];
  expect([await heldIn(mine), (await mine.store.state())?.unfit]).toMatchObject([['a', 'b', 'd'], noted]);
  service.remove('d');
  service.forget();
  await mine.harvester.harvest({ startsOver: true });
  expect([await heldIn(mine), (await mine.store.state())?.unfit]).toMatchObject([['a', 'b'], noted]);
  user.exec('DROP TABLE orders');
  user.close();
  const { left } = await repair(mine, await verify(mine));
  expect([left.differences, left.unfit, await heldIn(mine)]).toEqual([[], [], ['a']]);
});

it('two spellings of a table are one copy, as they are one table to SQLite', async () => {
  for (const id of ['a', 'b']) service.write(id);
  await opened().harvester.harvest();
  const store = SqliteStore.open(join(folder, 'copy.sqlite'), 'Products');
  stores.push(store);
  const other = Object.assign(new SimulatedService(), { feed: 'acme/shop/product/cars' });
  await expect(new Harvester(other, store).harvest()).rejects.toThrow(OtherFeedError);
  expect(await heldIn({ store })).toEqual(['a', 'b']);
  expect(await store.state()).toMatchObject({ feed: service.feed });
});
