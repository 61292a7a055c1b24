/** `max` on 16 connections, of this service, the plain one and an empty handler: where nothing is new, and behind each change. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { floor, plain, tidemark } from '../contestants/index.mjs';
import { maxOf, PRODUCT_MAX } from '../contestants/replication-api.mjs';
import { furnish } from '../data/operator.mjs';
import { TENANT } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { crowd } from './crowd.mjs';
import { commandsOfRequests } from './profiler.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 16;
/** Requests for each change. */
const CHANGES_SHARE = 50;
const APPLICATIONS = 1000;
const POLLERS = 10_000;
const POLL_SECONDS = 10;
const LONGEST_SECONDS = 20;
const US = 1_000_000;

export async function max(stage) {
  return [...(await nothingNew(stage)), ...(await changing(stage)), ...(await manyPollers(stage))];
}

async function nothingNew(stage) {
  const servers = {
    own: await stage.start(tidemark),
    plain: await stage.start(plain),
    floor: await stage.start(floor),
  };
  const rounds = [];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const asked = {};
    for (const [name, server] of Object.entries(servers)) asked[name] = await askedOf(server, stage);
    if (round === 0) continue;
    rounds.push(asked);
    const told = Object.entries(asked).map(
      ([name, { rate, cpu }]) => `${name} ${rate.toFixed(0)}/s, ${cpu.toFixed(0)} µs`,
    );
    say(`  round ${round}: ${told.join('; ')}`);
  }
  const database = stage.client.db(await stage.products(tidemark.layout));
  const commands = await commandsOfRequests(database, () => askedOf(servers.own, stage));
  await stage.stopServers();
  return [
    ...costRows(rounds),
    {
      figure: `the same: commands for ${stage.options.requests} requests`,
      ...{ value: commands, unit: '', atMost: 0 },
    },
  ];
}

function costRows(rounds) {
  const cpu = (one, other) => medianOf(rounds, (asked) => asked[one].cpu / asked[other].cpu);
  return [
    {
      figure: 'max, 16 connections, no changes: rate relative to NestJS + mongoose',
      value: medianOf(rounds, (asked) => asked.own.rate / asked.plain.rate),
      ...{ unit: 'x', rounds },
    },
    {
      figure: 'the same: CPU of NestJS + mongoose',
      ...{ value: cpu('plain', 'own'), unit: 'x', atLeast: 2 },
    },
    { figure: `the same: CPU relative to ${floor.title}`, value: cpu('own', 'floor'), unit: 'x' },
    {
      figure: `the same: CPU of NestJS + mongoose relative to ${floor.title}`,
      ...{ value: cpu('plain', 'floor'), unit: 'x' },
    },
  ];
}

async function askedOf(server, { options }) {
  const before = server.cpu();
  const rate = await crowd(server, CONNECTIONS, options.requests, () => ({ path: PRODUCT_MAX }));
  return { rate, cpu: (server.cpu() - before) / options.requests };
}

/** Each in a database of its own, since both would follow the changes of one. */
async function changing(stage) {
  const count = Math.ceil(stage.options.requests / CHANGES_SHARE);
  const used = { own: [], plain: [] };
  const places = [];
  for (const [name, contestant] of Object.entries({ own: tidemark, plain })) {
    const database = await stage.furnished(`changing-${name}`);
    const db = stage.client.db(database);
    await db.collection('products').insertOne(newProduct(0));
    places.push({ name, db, server: await stage.start(contestant, database) });
  }
  let sent = 0;
  for (let round = 0; round <= stage.options.rounds; round += 1)
    for (const { name, db, server } of places) {
      const before = server.cpu();
      for (let change = 0; change < count; change += 1) await changeAndPoll(db, server, (sent += 1));
      if (round > 0) used[name].push((server.cpu() - before) / count);
    }
  const [own] = places;
  const commands = await commandsOfRequests(own.db, async () => {
    for (let change = 0; change < count; change += 1) await changeAndPoll(own.db, own.server, (sent += 1));
  });
  for (const { server } of places) await server.stop();
  const ratios = used.own.map((cpu, round) => ({ cpu: used.plain[round] / cpu }));
  return [
    {
      figure: 'max, 16 connections, a change between any two polls: CPU of NestJS + mongoose',
      value: medianOf(ratios, ({ cpu }) => cpu),
      ...{ unit: 'x', atLeast: 1, rounds: used },
    },
    { figure: 'the same: commands for each change', value: commands / count, ...{ unit: '', atMost: 2 } },
  ];
}

async function changeAndPoll(db, server, number) {
  await db.collection('products').insertOne(newProduct(number));
  await crowd(server, CONNECTIONS, CONNECTIONS, () => ({ path: PRODUCT_MAX }));
}

function newProduct(number) {
  const now = new Date();
  const stamps = { createDate: now, createdBy: 'bench', lastupdated: now };
  return { ...TENANT, id: `change-${number}`, type: 'product', ...stamps, data: { number }, channels: [] };
}

/** What the database does for consumers of a thousand applications that ask every ten seconds, and are told of nothing new. */
async function manyPollers(stage) {
  const appids = Array.from({ length: APPLICATIONS }, (_, index) => `polled-${index}`);
  const database = 'polled';
  await furnish(stage.client.db(database), appids);
  const server = await stage.start(tidemark, database);
  const path = (number) => ({ path: maxOf(appids[number % APPLICATIONS]) });
  await crowd(server, CONNECTIONS, 2 * APPLICATIONS, path);
  const seconds = Math.min(stage.options.idleSeconds, LONGEST_SECONDS);
  const idle = await databaseDuring(stage, () => wait(seconds * 1000));
  const polled = await databaseDuring(stage, () => pollEvenly(server, seconds, path));
  await server.stop();
  say(`  mongod: idle ${idle.toFixed(2)} %, polled ${polled.toFixed(2)} % of a core`);
  return [
    {
      figure: `${POLLERS} pollers of ${APPLICATIONS} applications, one poll every ${POLL_SECONDS} s: CPU of mongod relative to idle`,
      ...{ value: polled / idle, unit: 'x', atMost: 1.1 },
    },
  ];
}

/** In percent of a core. */
async function databaseDuring({ mongod }, work) {
  const { pid } = mongod.process;
  const [before, since] = [cpuOf(pid), performance.now()];
  await work();
  return ((cpuOf(pid) - before) / ((performance.now() - since) * (US / 1000))) * 100;
}

async function pollEvenly(server, seconds, path) {
  const perTenth = POLLERS / POLL_SECONDS / 10;
  const begun = performance.now();
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    await crowd(server, CONNECTIONS, perTenth, (number) => path(tenth * perTenth + number));
    await wait(Math.max(0, begun + (tenth + 1) * 100 - performance.now()));
  }
}
