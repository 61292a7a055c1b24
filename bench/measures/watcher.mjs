/**
 * What the watcher does while another application waits for its plain change: of a neighbour's bulk, how much of the time goes
 * to learning (reads and writes of the ledger, moments), and how much to all else.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { TENANT } from '../data/products.mjs';
import { temporaryDirectory } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { bulks, NEIGHBOUR, raise, serve } from './neighbours/bulks.mjs';
import { median } from './statistics.mjs';

const LONGEST_MS = 10 * 60_000;
const LOOK_MS = 5;
/** What is measured is found in modules of the service, so they are not bundled. */
const MAIN = 'dist/main.entry.js';
const LEARNING = /^(learning|moments)/;

export async function watcher(stage) {
  const database = await stage.furnished('watcher');
  const db = stage.client.db(database);
  const file = join(temporaryDirectory(), 'spans.json');
  const settings = {
    NODE_OPTIONS: `--import ${new URL('../machine/spans.mjs', import.meta.url).href}`,
    TIDEMARK_SPANS: file,
    TIDEMARK_SPANS_MONGOD: String(stage.mongod.process.pid),
  };
  const server = await stage.start(tidemark, database, { settings, main: MAIN });
  const spans = () => spansOf(server, file);
  await serve(db, {});
  await raise(db, NEIGHBOUR);
  await raise(db, TENANT);
  const found = new Map(Object.keys(bulks).map((name) => [name, []]));
  for (let round = 0; round < stage.options.rounds; round += 1) {
    for (const [name, bulk] of Object.entries(bulks)) {
      await passed(db);
      await spans();
      const begun = performance.now();
      await bulk(db, stage.options.neighbours, round);
      const written = performance.now();
      await passed(db);
      const waited = performance.now() - begun;
      await until(() => isStamped(db), { what: 'The stamping', within: LONGEST_MS });
      found.get(name).push({ ...(await spans()), waited, afterwards: performance.now() - written });
    }
  }
  return [...found].flatMap(([name, runs]) => rowsOf(name, runs, stage.options.neighbours));
}

/** Writes a plain change of another application, and waits until the watcher has worked through it. */
async function passed(db) {
  const now = new Date();
  const id = `plain-${performance.now()}`;
  const session = db.client.startSession();
  await db
    .collection('products')
    .insertOne(
      { ...TENANT, id, type: 'product', createDate: now, createdBy: 'bench', lastupdated: now, data: {} },
      { session },
    );
  const { operationTime } = session;
  await session.endSession();
  const isPassed = async () => {
    const lease = await db.collection('tidemark.leases').findOne({ _id: 'watcher' });
    return lease?.watched?.greaterThanOrEqual(operationTime);
  };
  const end = performance.now() + LONGEST_MS;
  while (!(await isPassed())) {
    if (performance.now() > end) throw new Error('The watcher does not come to a plain change');
    await wait(LOOK_MS);
  }
}

/** Edited filters are stamped beside the stream: the round lasts until they are. */
async function isStamped(db) {
  return (await db.collection('tidemark.filterversions').countDocuments({ pending: true })) === 0;
}

async function spansOf(server, file) {
  rmSync(file, { force: true });
  process.kill(server.process.pid, 'SIGUSR2');
  let spans;
  const isThere = () => {
    try {
      spans = JSON.parse(readFileSync(file, 'utf8'));
      return true;
    } catch {
      return false;
    }
  };
  await until(isThere, { what: 'the spans' });
  return { spans };
}

function rowsOf(name, runs, count) {
  const parts = [...new Set(runs.flatMap(({ spans }) => Object.keys(spans)))].sort();
  const of = (part, clock) => median(runs.map(({ spans }) => spans[part]?.[clock] ?? 0));
  const whole = median(runs.map(({ spans }) => sum(spans, () => true)));
  const learning = median(
    runs.map(({ spans }) => sum(spans, (part) => LEARNING.test(part)) / sum(spans, () => true)),
  );
  say(`  ${name} of ${count}: waited ${seconds(median(runs.map(({ waited }) => waited)))} s`);
  for (const part of parts)
    say(
      `    ${part}: ${seconds(of(part, 'wall'))} s, ${((100 * of(part, 'wall')) / whole).toFixed(0)} %; ` +
        `CPU ${seconds(of(part, 'cpu'))} + mongod ${seconds(of(part, 'mongod'))}; ${of(part, 'calls')} calls`,
    );
  const figure = `during ${name} of ${count.toLocaleString('en')}`;
  const waited = median(runs.map((run) => run.waited)) / 1000;
  return [
    { figure: `${figure}: time in which a plain change waits`, value: waited, unit: ' s' },
    { figure: `${figure}: learning, of the watcher's time`, value: 100 * learning, unit: ' %' },
  ];
}

function sum(spans, isCounted) {
  return Object.entries(spans)
    .filter(([part]) => isCounted(part))
    .reduce((total, [, { wall }]) => total + wall, 0);
}

function seconds(milliseconds) {
  return (milliseconds / 1000).toFixed(2);
}
