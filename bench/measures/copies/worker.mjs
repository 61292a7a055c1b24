/**
 * A client of the service: reads the whole `changes` and keeps them in a copy, or throws them away where no `form` is given.
 * Answers milliseconds, its own CPU time in microseconds, and how many records it was told of and holds now.
 */
import { performance } from 'node:perf_hooks';
import { Harvester, sourceOf } from '../../../client/dist/harvest/index.js';
import { Tidemark } from '../../../client/dist/index.js';

const TABLE = 'products';
/** As the harvester asks for them while its copy is empty. */
const FIRST = { deletes: 'skip', limit: 1000 };

/** Only the driver that is needed is loaded. */
const STORES = {
  sqlite: async (to) => (await storeIn('sqlite')).SqliteStore.open(to, TABLE),
  ndjson: async (to) => (await storeIn('ndjson/ndjson-store')).NdjsonStore.open(to),
  mongodb: async (to) => (await storeIn('mongodb')).MongodbStore.open(to, TABLE),
  postgres: async (to) => (await storeIn('postgres')).PostgresStore.open(to, TABLE),
};

process.on('message', async ({ form, to, ...options }) => {
  const tidemark = new Tidemark(options);
  const work = form === undefined ? read(tidemark, options) : copy(tidemark, options, () => STORES[form](to));
  process.send(await work.catch(({ message }) => ({ failure: message })));
});
process.once('SIGTERM', () => process.exit(0));

async function read(tidemark, { kind, service }) {
  let told = 0;
  const cost = await costOf(async () => {
    for await (const { result } of tidemark.changes(kind, service, FIRST).pages()) told += result.length;
  });
  return { ...cost, told, held: told };
}

/** What a store leaves to its end, such as a log that is written into the file, belongs to the copy; making it empty does not. */
async function copy(tidemark, feed, open) {
  const store = await open();
  const harvester = new Harvester(sourceOf(tidemark, feed), store);
  let told;
  const cost = await costOf(async () => {
    told = (await harvester.harvest()).upserts;
    await store.close();
  });
  return { ...cost, told, held: await heldIn(await open()) };
}

async function costOf(work) {
  const [before, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: user + system };
}

async function heldIn(store) {
  let held = 0;
  for await (const { length } of store.held()) held += length;
  await store.close();
  return held;
}

function storeIn(name) {
  return import(`../../../client/dist/stores/${name}.js`);
}
