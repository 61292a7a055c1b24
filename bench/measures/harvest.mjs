/** A whole harvest over HTTP, on 4 connections, of this service and of every peer, round by round in turn. */
import { peers, plain, tidemark } from '../contestants/index.mjs';
import { idAt, placeOf, stampAt } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { kindRows } from './kinds.mjs';
import { medianOf } from './statistics.mjs';

const CONNECTIONS = 4;
const LIMIT = 1000;
const WARM_UP = 20_000;

const WANTED = { plain: 14, restify: 8 };

export async function harvest(stage) {
  const chosen = peers.filter(({ name }) => stage.options.against.includes(name));
  const entrants = [tidemark, ...chosen].map((contestant) => ({ contestant, rounds: [] }));
  for (const entrant of entrants) await unlessFailed(entrant, () => enter(entrant, stage));
  for (let round = 1; round <= stage.options.rounds; round += 1) {
    for (const entrant of entrants) await unlessFailed(entrant, () => oneRound(entrant, stage, round));
  }
  const [own, ...others] = entrants;
  if (own.failure !== undefined) throw new Error(`this service: ${own.failure}`);
  const rows = others.flatMap((other) => rowsOf(own, other));
  await stage.stopServers();
  return chosen.includes(plain) ? [...rows, ...(await kindRows(stage))] : rows;
}

/** Drains the products from one place in `_id` order up to another, and notes each; throws where one is missing. */
export async function drainShare({ server, contestant, seen }, { start, end, items }) {
  const connection = server.connection();
  const to = stampAt(items).toISOString();
  let lastoffsetid = start === 0 ? '' : idAt(start - 1);
  for (let rest = end - start; rest > 0;) {
    const limit = Math.min(LIMIT, rest);
    const { status, body } = await connection.request({
      path: contestant.pagePath({ to, lastoffsetid, limit }),
    });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    const answer = JSON.parse(body.toString());
    const page = contestant.itemsOf(answer);
    if (page.length !== limit) throw new Error(`gave ${page.length} of ${limit} items`);
    for (const item of page) note(seen, item);
    lastoffsetid = contestant.nextOf(answer);
    rest -= page.length;
  }
  connection.close();
}

/** Harvests so many products in shares of the same size, and answers what it cost in microseconds an item. */
export async function harvestOf({ server, contestant }, stage, items) {
  const mongod = stage.mongod.process.pid;
  const seen = new Uint8Array(stage.options.items);
  const before = { service: server.cpu(), mongod: cpuOf(mongod) };
  const share = Math.ceil(items / CONNECTIONS);
  const shares = Array.from({ length: CONNECTIONS }, (_, index) => ({
    start: Math.min(items, index * share),
    end: Math.min(items, (index + 1) * share),
    items: stage.options.items,
  }));
  await Promise.all(shares.map((one) => drainShare({ server, contestant, seen }, one)));
  const distinct = seen.reduce((sum, one) => sum + one, 0);
  if (distinct !== items) throw new Error(`delivered ${distinct} of ${items} products`);
  return {
    service: (server.cpu() - before.service) / items,
    mongod: (cpuOf(mongod) - before.mongod) / items,
  };
}

async function enter(entrant, stage) {
  entrant.server = await stage.start(entrant.contestant);
  await harvestOf(entrant, stage, Math.min(WARM_UP, stage.options.items));
}

async function oneRound(entrant, stage, round) {
  const cost = await harvestOf(entrant, stage, stage.options.items);
  entrant.rounds.push(cost);
  const { title } = entrant.contestant;
  const µs = `${cost.service.toFixed(1)} µs, mongod ${cost.mongod.toFixed(1)} µs`;
  say(`  round ${round}: ${title} ${µs} an item`);
}

/** A contestant that fails is out of the race, and everybody else goes on. */
async function unlessFailed(entrant, work) {
  if (entrant.failure !== undefined) return;
  try {
    await work();
  } catch (error) {
    entrant.failure = error.message;
    say(`  ${entrant.contestant.title} failed: ${error.message}`);
    await entrant.server?.stop();
  }
}

function note(seen, { id, data }) {
  if (typeof data?.description !== 'string') throw new Error(`gave ${id} without its data`);
  seen[placeOf(id)] = 1;
}

function rowsOf(own, { contestant, rounds, failure }) {
  const { name, title } = contestant;
  const figure = `harvest, 4 connections: CPU of ${title}`;
  if (failure !== undefined) return [{ figure, failure }];
  const ratio = (part) => medianOf(rounds, (cost, round) => cost[part] / own.rounds[round][part]);
  return [
    {
      figure,
      value: ratio('service'),
      unit: 'x',
      atLeast: WANTED[name],
      rounds: { own: own.rounds, rounds },
    },
    { figure: `${figure}, in mongod`, value: ratio('mongod'), unit: 'x' },
  ];
}
