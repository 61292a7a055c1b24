/** What the control streams of four instances cost MongoDB and the instances, beside the same with KNOWLEDGE_MS=0. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark, unknowing } from '../contestants/index.mjs';
import { PRODUCT_MAX } from '../contestants/replication-api.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { median } from './statistics.mjs';

const INSTANCES = 4;
const ROUNDS = 3;
/** A stream ends if the instance receives no request for five minutes. */
const POLL_MS = 10_000;
const SETTLED_MS = 2000;
const IDLE_SHARE = 4;
const LONGEST_SECONDS = 20;
const DOCUMENTS_A_SECOND = 20_000;
const BATCHES_A_SECOND = 20;
const STREAM_OF_A_SERVICE = { 'cursor.originatingCommand.comment': 'tidemark control' };

/** Each in turn, with what else happens in the database. */
const cases = { idle: () => undefined, neighbour: writeBeside };

export async function control(stage) {
  const used = { known: [], read: [] };
  const rounds = Math.min(stage.options.rounds, ROUNDS);
  for (let round = 1; round <= rounds; round += 1)
    for (const [name, contestant] of Object.entries({ known: tidemark, read: unknowing })) {
      used[name].push(await usedBy(contestant, stage));
      const [{ idle, neighbour }] = used[name].slice(-1);
      say(`  round ${round}, ${contestant.title}, in percent of a core`);
      say(`    idle: mongod ${idle.mongod.toFixed(1)}, an instance ${idle.instance.toFixed(1)}`);
      say(`    beside: mongod ${neighbour.mongod.toFixed(1)}, an instance ${neighbour.instance.toFixed(1)}`);
    }
  return rowsOf(used);
}

/** Four instances at work, and what they use in each case. */
async function usedBy(contestant, stage) {
  const database = await stage.furnished(`control-${randomName()}`);
  const start = () => stage.start(contestant, database);
  const servers = [await start(), ...(await Promise.all(Array.from({ length: INSTANCES - 1 }, start)))];
  await poll(servers);
  await wait(SETTLED_MS);
  await poll(servers);
  await streamsAreOpen(stage, database, contestant === tidemark ? INSTANCES : 0);
  const used = {};
  for (const [name, work] of Object.entries(cases)) used[name] = await percentDuring(stage, servers, work);
  await stage.stopServers();
  await stage.client.db(database).dropDatabase();
  return used;
}

const randomName = () => Math.random().toString(36).slice(2);

async function poll(servers) {
  for (const server of servers) {
    const { status } = await server.get(PRODUCT_MAX);
    if (status !== 200) throw new Error(`max answered ${status}`);
  }
}

async function streamsAreOpen({ client }, database, wanted) {
  const ofDatabase = { ns: `${database}.$cmd.aggregate`, ...STREAM_OF_A_SERVICE };
  const open = [{ $currentOp: { idleCursors: true } }, { $match: ofDatabase }];
  const areOpen = async () => (await client.db('admin').aggregate(open).toArray()).length === wanted;
  await until(areOpen, { what: `a number of ${wanted} control streams` });
}

/** The CPU of `mongod`, and of one instance in the middle of all, in percent of a core. */
async function percentDuring({ mongod, client, options }, servers, work) {
  const seconds = Math.min(options.idleSeconds / IDLE_SHARE, LONGEST_SECONDS);
  const now = () => [cpuOf(mongod.process.pid), ...servers.map((server) => server.cpu())];
  const end = performance.now() + seconds * 1000;
  const [before, since] = [now(), performance.now()];
  await Promise.all([work(client, end), pollUntil(servers, end)]);
  const elapsed = (performance.now() - since) * 1000;
  const [ofMongod, ...ofServers] = now().map((cpu, place) => ((cpu - before[place]) / elapsed) * 100);
  return { mongod: ofMongod, instance: ofServers.reduce((sum, one) => sum + one) / servers.length };
}

async function pollUntil(servers, end) {
  while (performance.now() < end) {
    await poll(servers);
    await wait(Math.min(POLL_MS, Math.max(0, end - performance.now())));
  }
}

/** A program that writes into another database of the same server, as evenly as it can. */
async function writeBeside(client, end) {
  const collection = client.db('neighbour').collection('written');
  const length = DOCUMENTS_A_SECOND / BATCHES_A_SECOND;
  const begun = performance.now();
  let batches = 0;
  for (; performance.now() < end; batches += 1) {
    await collection.insertMany(
      Array.from({ length }, (_, number) => ({ number, text: 'of the neighbour' })),
    );
    await wait(Math.max(0, begun + ((batches + 1) * 1000) / BATCHES_A_SECOND - performance.now()));
  }
  const rate = (batches * length * 1000) / (performance.now() - begun);
  say(`    the neighbour wrote ${rate.toFixed(0)} documents a second`);
  await collection.drop();
}

function rowsOf(used) {
  const middle = (way, name, part) => median(used[way].map((round) => round[name][part]));
  const beside = (name) =>
    median(used.known.map((round, place) => round[name].mongod / used.read[place][name].mongod));
  const four = `control streams of ${INSTANCES} instances`;
  return [
    {
      figure: `${four} during a neighbour's ${DOCUMENTS_A_SECOND} documents a second: CPU of mongod relative to no streams`,
      ...{ value: beside('neighbour'), unit: 'x', rounds: used },
    },
    { figure: 'the same, without the neighbour', value: beside('idle'), unit: 'x' },
    {
      figure: 'the same, CPU of mongod, of one core',
      ...{ value: middle('known', 'idle', 'mongod'), unit: ' %' },
    },
    {
      figure: 'the same, CPU of one instance, of one core',
      ...{ value: middle('known', 'idle', 'instance'), unit: ' %' },
    },
    { figure: 'the same with KNOWLEDGE_MS=0', value: middle('read', 'idle', 'instance'), unit: ' %' },
  ];
}
