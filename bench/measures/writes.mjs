/**
 * Create and patch of members on 64 connections: beside the same of the plain service, and beside a bare `insertOne` of the
 * same members from the driver.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { plain, tidemark } from '../contestants/index.mjs';
import { memberChanges } from '../contestants/replication-api.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { ask, Process } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { crowd } from './crowd.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 64;
const CONFLICT = 409;
/** A service is at rest that uses less than a tenth of a core for so long. */
const REST_MS = 200;
const REST_CPU_US = 20_000;
const { create, createdKey, patch } = memberChanges;

/** Only one of all runs at a time: what our watcher reads of the database's log would cost the others, too. */
export async function writes(stage) {
  const rounds = [];
  for (let round = 1; round <= stage.options.rounds; round += 1) {
    const insertOne = await inserted(stage);
    const own = await written(tidemark, stage, round);
    rounds.push({ insertOne, own, plain: await written(plain, stage, round) });
    tell(round, rounds.at(-1));
  }
  return ['create', 'patch'].flatMap((work) => rowsOf(work, rounds));
}

/** So many a second. */
async function inserted({ mongod, options: { requests } }) {
  const env = { MONGODB_URI: mongod.uri('bare') };
  const worker = new Process(process.execPath, ['bench/measures/writes-worker.mjs'], { env, ipc: true });
  await mongod.client.db('bare').dropDatabase();
  await ask(worker, { requests, connections: CONNECTIONS });
  const rate = await ask(worker, { requests, connections: CONNECTIONS });
  await worker.stop();
  return rate;
}

/** What creates and patches cost, each as `{ rate, service, mongod }`: so many a second, and microseconds of CPU for one. */
async function written(contestant, stage, round) {
  const database = await stage.furnished(`writes-${contestant.name}-${round}`);
  const server = await stage.start(contestant, database);
  const { requests } = stage.options;
  await createdAndPatched(server, stage, 0);
  await assertUnique(server, 2 * requests);
  const costs = await createdAndPatched(server, stage, requests);
  await server.stop();
  return costs;
}

async function createdAndPatched(server, stage, first) {
  const { requests } = stage.options;
  const keys = new Array(requests);
  const keep = (number, body) => (keys[number] = createdKey(JSON.parse(body)));
  const all = (requestAt, onAnswer) => crowd(server, CONNECTIONS, requests, requestAt, onAnswer);
  return {
    create: await costOf(server, stage, () => all((number) => create(first + number), keep)),
    patch: await costOf(server, stage, () => all((number) => patch(keys[number]))),
  };
}

/** Counts what a service still does behind its last answer, as our watcher does. */
async function costOf(server, { mongod, options: { requests } }, work) {
  const used = () => ({ service: server.cpu(), mongod: cpuOf(mongod.process.pid) });
  const before = used();
  const rate = await work();
  await rested(server);
  const after = used();
  const costOfOne = (part) => (after[part] - before[part]) / requests;
  return { rate, service: costOfOne('service'), mongod: costOfOne('mongod') };
}

function rested(server) {
  const isAtRest = async () => {
    const before = server.cpu();
    await wait(REST_MS);
    return server.cpu() - before <= REST_CPU_US;
  };
  return until(isAtRest, { what: 'a service at rest' });
}

/** Services are compared that do the same: each refuses an e-mail that is taken. */
async function assertUnique(server, number) {
  const connection = server.connection();
  const [taken, own] = [create(number), create(number + 1)];
  const { email } = taken.body;
  await connection.request(taken);
  const key = createdKey(JSON.parse((await connection.request(own)).body));
  const again = { ...taken, body: { ...taken.body, email: email.toUpperCase() } };
  for (const refused of [again, { ...patch(key), body: { email } }]) {
    const { status } = await connection.request(refused);
    if (status !== CONFLICT)
      throw new Error(`${refused.method} of an e-mail that is taken answered ${status}`);
  }
  connection.close();
}

function tell(round, { insertOne, own, plain: other }) {
  const costs = ['create', 'patch'].map((work) => {
    const [mine, theirs] = [own, other].map(({ [work]: { rate, service, mongod } }) =>
      [`${rate.toFixed(0)}/s`, `${service.toFixed(0)} µs`, `mongod ${mongod.toFixed(0)} µs`].join(', '),
    );
    return `\n    ${work}: ${mine}; ${plain.title} ${theirs}`;
  });
  say(`  round ${round}: insertOne ${insertOne.toFixed(0)}/s${costs.join('')}`);
}

function rowsOf(work, rounds) {
  const ratio = (figure) => medianOf(rounds, ({ own, plain: other }) => figure(own[work], other[work]));
  const row = (figure, value) => ({ figure, value, unit: 'x', atLeast: 1 });
  const cpu = 'the same: CPU of NestJS + mongoose';
  return [
    {
      ...row(
        `${work}, 64 connections: rate relative to NestJS + mongoose`,
        ratio((own, other) => own.rate / other.rate),
      ),
      rounds,
    },
    row(
      cpu,
      ratio((own, other) => other.service / own.service),
    ),
    row(
      `${cpu}, mongod included`,
      ratio((own, other) => (other.service + other.mongod) / (own.service + own.mongod)),
    ),
    {
      figure: `${work}, 64 connections: rate relative to insertOne`,
      value: medianOf(rounds, ({ own, insertOne }) => own[work].rate / insertOne),
      ...{ unit: 'x', atLeast: 0.4, rounds },
    },
  ];
}
