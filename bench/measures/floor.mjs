/** Page making beside the least that it can cost: in Node the driver's raw reply, in mongod the find of a raw client. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { stampAt } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { ask, Process } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';
import { RawClient } from '../raw-client.mjs';
import { DATABASE } from '../stage.mjs';
import { movedTo, PAGE, pageFind } from './finds.mjs';
import { harvestOf } from './harvest.mjs';
import { feedQueriesOf } from './profiler.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 4;

export async function floor(stage) {
  const entrant = { contestant: tidemark, server: await stage.start(tidemark) };
  const worker = new Process(process.execPath, ['bench/measures/floor-worker.mjs'], {
    env: { MONGODB_URI: stage.mongod.uri(DATABASE) },
    ipc: true,
  });
  const rounds = [];
  await oneRound(entrant, worker, stage);
  for (let round = 1; round <= stage.options.rounds; round += 1) {
    rounds.push(await oneRound(entrant, worker, stage));
    const told = Object.entries(rounds.at(-1)).map(([name, cost]) => `${name} ${cost.toFixed(2)}`);
    say(`  round ${round}, µs an item: ${told.join(', ')}`);
  }
  await worker.stop();
  await entrant.server.stop();
  return rowsOf(rounds);
}

/** Microseconds an item. */
async function oneRound(entrant, worker, stage) {
  const { items } = stage.options;
  const { mongod } = await harvestOf(entrant, stage, items);
  const asked = await askedByService(entrant, stage);
  const plain = await rawHarvest(stage, (start) => pageFind(start, { database: DATABASE, items }));
  const same = await rawHarvest(stage, (start) => movedTo(start, asked));
  return {
    service: mongod,
    plain,
    same,
    raw: await ask(worker, { items }),
    json: await ask(worker, { items, json: true }),
  };
}

/** The command of one page, as the service has just sent it. */
async function askedByService({ server }, stage) {
  const to = stampAt(stage.options.items).toISOString();
  const lastoffsetid = pageFind(1, { items: 1 }).filter._id.$gt.toHexString();
  const path = feedPath('product', 'default/updates', { to, lastoffsetid, limit: PAGE });
  const queries = await feedQueriesOf(stage.client.db(DATABASE), () => server.get(path));
  return queries.at(-1).command;
}

/** Reads all products with a raw client on each of 4 connections; what that cost mongod. */
async function rawHarvest(stage, findFrom) {
  const { items } = stage.options;
  const { pid } = stage.mongod.process;
  const clients = Array.from({ length: CONNECTIONS }, () => new RawClient(stage.mongod.port).open());
  const open = await Promise.all(clients);
  const before = cpuOf(pid);
  let next = 0;
  let read = 0;
  const reader = async (client) => {
    while (next < items) {
      const start = next;
      next += PAGE;
      const documents = await client.firstBatch(findFrom(start));
      read += documents.length;
    }
  };
  await Promise.all(open.map(reader));
  const cost = (cpuOf(pid) - before) / items;
  open.forEach((client) => client.close());
  if (read !== items) throw new Error(`the raw client read ${read} of ${items} products`);
  return cost;
}

function rowsOf(rounds) {
  const ratio = (one, other) => medianOf(rounds, (cost) => cost[one] / cost[other]);
  return [
    {
      figure: "rate of page making, without HTTP, relative to the driver's raw reply",
      value: ratio('raw', 'json'),
      unit: 'x',
      atLeast: 0.5,
      rounds,
    },
    {
      figure: 'CPU of mongod relative to a raw client that requests the same pages',
      value: ratio('service', 'plain'),
      unit: 'x',
      atMost: 1.25,
    },
    {
      figure: "CPU of mongod relative to a raw client that sends the service's own commands",
      value: ratio('service', 'same'),
      unit: 'x',
    },
  ];
}
