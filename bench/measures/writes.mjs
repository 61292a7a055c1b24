/** Create and patch of members on 64 connections, beside a bare `insertOne` of the same members from the driver. */
import { tidemark } from '../contestants/index.mjs';
import { memberChanges } from '../contestants/replication-api.mjs';
import { ask, Process } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';
import { crowd } from './crowd.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 64;
const { create, createdKey, patch } = memberChanges;

export async function writes(stage) {
  const server = await stage.start(tidemark, await stage.furnished('writes'));
  const worker = new Process(process.execPath, ['bench/measures/writes-worker.mjs'], {
    env: { MONGODB_URI: stage.mongod.uri('bare') },
    ipc: true,
  });
  const rounds = [];
  await oneRound(server, worker, stage, 0);
  for (let round = 1; round <= stage.options.rounds; round += 1) {
    rounds.push(await oneRound(server, worker, stage, round));
    const told = Object.entries(rounds.at(-1)).map(([name, rate]) => `${name} ${rate.toFixed(0)}/s`);
    say(`  round ${round}: ${told.join(', ')}`);
  }
  await worker.stop();
  const rateOf = (name) => medianOf(rounds, (rates) => rates[name] / rates.insertOne);
  const beside = 'beside insertOne';
  return [
    {
      figure: `create, 64 connections: rate ${beside}`,
      value: rateOf('create'),
      unit: 'x',
      atLeast: 0.5,
      rounds,
    },
    { figure: `patch, 64 connections: rate ${beside}`, value: rateOf('patch'), unit: 'x', atLeast: 0.5 },
  ];
}

async function oneRound(server, worker, { options: { requests } }, round) {
  const first = round * requests;
  const keys = new Array(requests);
  const insertOne = await ask(worker, { requests, connections: CONNECTIONS });
  const created = await crowd(
    ...[server, CONNECTIONS, requests],
    (number) => create(first + number),
    (number, body) => (keys[number] = createdKey(JSON.parse(body))),
  );
  const patched = await crowd(server, CONNECTIONS, requests, (number) => patch(keys[number]));
  return { insertOne, create: created, patch: patched };
}
