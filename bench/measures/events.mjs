/** What an event costs the watcher: CPU of the service, and of mongod beyond that of the write itself. */
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { bulks, NEIGHBOUR, raise } from './neighbours/bulks.mjs';
import { settled } from './settled.mjs';
import { median } from './statistics.mjs';

/** Without a service that follows it. */
const ALONE = 'events-alone';
/** What follows a bulk, such as checkpoints of mongod and heads of the service, is done by then. */
const REST_MS = 1000;
/** By the name of a bulk: CPU of the service and of mongod for an event, in microseconds. */
const WANTED = {
  'an import': [30, 60],
  'an update that stamps': [12, 15],
  'a deleteMany': [20, 60],
};

export async function events(stage) {
  const { rounds, neighbours: count } = stage.options;
  // Its indexes are those of the service.
  await (await stage.start(tidemark, await stage.furnished(ALONE))).stop();
  const alone = await costsOf(stage, stage.client.db(ALONE), { rounds, count });
  const database = await stage.furnished('events');
  const db = stage.client.db(database);
  const server = await stage.start(tidemark, database);
  await raise(db, NEIGHBOUR);
  const watched = await costsOf(stage, db, { rounds, count, server });
  await server.stop();
  return Object.entries(WANTED).flatMap(([name, [service, mongod]]) => {
    const [own, other] = [watched[name].service, watched[name].mongod - alone[name].mongod];
    say(`  ${name}: service ${own.toFixed(1)} µs, mongod ${other.toFixed(1)} µs an event`);
    const figure = `the watcher's CPU for an event of ${name} of ${count.toLocaleString('en')}`;
    return [
      { figure, value: own, unit: ' µs', atMost: service },
      { figure: `${figure}, in mongod`, value: other, unit: ' µs', atMost: mongod },
    ];
  });
}

/** Medians, in microseconds for each record of a bulk. */
async function costsOf(stage, db, { rounds, count, server }) {
  const pids = { mongod: stage.mongod.process.pid, ...(server && { service: server.process.pid }) };
  const used = () => Object.entries(pids).map(([name, pid]) => [name, cpuOf(pid)]);
  const found = Object.fromEntries(Object.keys(WANTED).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const name of Object.keys(WANTED)) {
      await wait(REST_MS);
      const before = Object.fromEntries(used());
      await bulks[name](db, count, round);
      if (server) await settled(db);
      await wait(REST_MS);
      found[name].push(Object.fromEntries(used().map(([part, cpu]) => [part, (cpu - before[part]) / count])));
    }
  const middle = (costs, part) => median(costs.map((cost) => cost[part] ?? 0));
  return Object.fromEntries(
    Object.entries(found).map(([name, costs]) => [
      name,
      { service: middle(costs, 'service'), mongod: middle(costs, 'mongod') },
    ]),
  );
}
