/** Whole windows of `changes`, beside the three feeds that tell the same, of one service and round by round in turn. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { stampAt } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { DATABASE } from '../stage.mjs';
import { feedQueriesOf } from './profiler.mjs';
import { medianOf } from './statistics.mjs';

const SERVICE = 'half';
const LIMIT = 1000;
const FEEDS = [`${SERVICE}/updates`, `${SERVICE}/softdeletes`, 'harddeletes'];
/** A narrow window and everything: the two have different plans. */
const SHARES = [0.1, 1];
/** A page of `changes` that crosses from one feed to the next asks both of them. */
const MOST_KEYS = 1.05;

export async function changes(stage) {
  const server = await stage.start(tidemark);
  const rows = [];
  for (const share of SHARES) rows.push(...(await rowsOf(stage, server, share)));
  return rows;
}

async function rowsOf(stage, server, share) {
  const { items, rounds } = stage.options;
  const width = Math.ceil(items * share);
  const window = {
    ...(share < 1 && { from: stampAt(items - width - 1).toISOString() }),
    to: stampAt(items - 1).toISOString(),
  };
  const ways = { feeds: () => drainFeeds(server, window), changes: () => drainChanges(server, window) };
  for (const way of Object.values(ways)) await way();
  const measured = [];
  for (let round = 1; round <= rounds; round += 1) {
    const cost = {};
    const turns = Object.entries(ways);
    for (const [name, way] of round % 2 === 0 ? turns.reverse() : turns)
      cost[name] = await costOf(stage, server, way, width);
    measured.push(cost);
    say(`  W = ${width}, round ${round}: ${JSON.stringify(cost)}`);
  }
  const keys = {};
  for (const [name, way] of Object.entries(ways)) keys[name] = await keysOf(stage, way, width);
  say(`  W = ${width}: keys an item ${JSON.stringify(keys)}`);
  return rowsFrom({ width, measured, keys });
}

function rowsFrom({ width, measured, keys }) {
  const ratio = (part) => medianOf(measured, ({ feeds, changes: own }) => own[part] / feeds[part]);
  const figure = `changes relative to the three feeds, W = ${width.toLocaleString('en')}`;
  return [
    { figure: `${figure}: CPU`, value: ratio('service'), unit: 'x', rounds: measured },
    { figure: `${figure}: CPU of mongod`, value: ratio('mongod'), unit: 'x' },
    { figure: `${figure}: time`, value: ratio('time'), unit: 'x' },
    {
      figure: `${figure}: keys examined`,
      ...{ value: keys.changes / keys.feeds, unit: 'x', atMost: MOST_KEYS, isCount: true, keys },
    },
  ];
}

/** Microseconds an item. */
async function costOf(stage, server, way, width) {
  const mongod = stage.mongod.process.pid;
  const before = { service: server.cpu(), mongod: cpuOf(mongod), time: performance.now() * 1000 };
  const delivered = await way();
  if (delivered !== width) throw new Error(`delivered ${delivered} of ${width} products`);
  return {
    service: (server.cpu() - before.service) / width,
    mongod: (cpuOf(mongod) - before.mongod) / width,
    time: (performance.now() * 1000 - before.time) / width,
  };
}

async function keysOf(stage, way, width) {
  const queries = await feedQueriesOf(stage.client.db(DATABASE), way);
  return queries.reduce((sum, { keysExamined }) => sum + keysExamined, 0) / width;
}

async function drainFeeds(server, window) {
  let delivered = 0;
  for (const feed of FEEDS) {
    const pathOf = (lastoffsetid) => feedPath('product', feed, { ...window, lastoffsetid, limit: LIMIT });
    delivered += await drain(server, pathOf, ({ result }) => result.length === LIMIT);
  }
  return delivered;
}

function drainChanges(server, window) {
  const pathOf = (lastoffsetid) =>
    feedPath('product', `${SERVICE}/changes`, { ...window, lastoffsetid, limit: LIMIT });
  return drain(server, pathOf, ({ nextoffsetid }) => nextoffsetid !== '');
}

/** All pages, and how many items they hold. */
async function drain(server, pathOf, goesOn) {
  const connection = server.connection();
  let delivered = 0;
  for (let lastoffsetid = '', isMore = true; isMore;) {
    const { status, body } = await connection.request({ path: pathOf(lastoffsetid) });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    const page = JSON.parse(body.toString());
    delivered += page.result.length;
    isMore = goesOn(page);
    lastoffsetid = page.nextoffsetid;
  }
  connection.close();
  return delivered;
}
