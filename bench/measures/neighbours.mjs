/**
 * How soon a plain change is delivered while other programs give the watcher much, or odd, work in another application; and how
 * soon `max` and a small page are answered while another application gives the service much work.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { TENANT } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { Copier } from './lost/copier.mjs';
import { answers } from './neighbours/answers.mjs';
import { bulks, NEIGHBOUR, raise, serve } from './neighbours/bulks.mjs';
import { works } from './neighbours/works.mjs';
import { median } from './statistics.mjs';

/** Changes in a round. */
const CHANGES = 4;
const BETWEEN_MS = 1000;
const LOOK_MS = 5;
const LONGEST_MS = 120_000;
/** Targets during a bulk, and during unusual work (seconds). */
const BESIDE_BULKS = { median: 0.3, most: 2 };
const BESIDE_OTHERS = { median: 2, most: 30 };
/** The longest time in which a bulk is worked through (milliseconds). */
const LONGEST_BULK_MS = 20 * 60_000;

export async function neighbours(stage) {
  const rows = await deliveries(stage);
  await stage.stopServers();
  return [...rows, ...(await answers(stage))];
}

async function deliveries(stage) {
  const database = await stage.furnished('neighbours');
  const db = stage.client.db(database);
  const server = await stage.start(tidemark, database);
  const shop = new Shop(db, new Copier(server, tidemark.foreignChanges));
  const rows = [];
  await serve(db, {});
  await raise(db, NEIGHBOUR);
  await shop.deliveries(1);
  for (const [name, bulk] of Object.entries(bulks)) {
    const seconds = await beside(stage, shop, () => bulk(db, stage.options.neighbours, 0));
    await until(() => isWorkedThrough(db), { what: 'The bulk', within: LONGEST_BULK_MS });
    rows.push(...rowsOf(name, seconds, BESIDE_BULKS));
  }
  for (const [name, work] of Object.entries(works)) {
    const seconds = await beside(stage, shop, () => work(db, stage.options.neighbours));
    rows.push(...rowsOf(name, seconds, BESIDE_OTHERS));
  }
  return rows;
}

/** How many seconds each product of the shop took while a work was done, and at least in each round. */
async function beside({ options }, shop, begin) {
  const work = begin();
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  done.catch(() => undefined);
  const seconds = await shop.deliveries(CHANGES * options.rounds);
  while (!isDone) seconds.push(...(await shop.deliveries(CHANGES)));
  await done;
  await shop.deliveries(1);
  return seconds;
}

/** Whether no application is worked through beside the others, and no filter is being brought into force. */
async function isWorkedThrough(db) {
  const state = await db.collection('tidemark.leases').findOne({ _id: 'watcher' });
  const pending = await db.collection('tidemark.filterversions').countDocuments({ pending: true });
  return pending === 0 && (state?.aside ?? []).length === 0;
}

/** Another application, in which products come one after the other, and a consumer that harvests all the time. */
class Shop {
  created = 0;

  constructor(db, consumer) {
    this.products = db.collection('products');
    this.consumer = consumer;
  }

  /** Writes one product each second, delivered or not; answers how many seconds each took to come to the consumer. */
  async deliveries(count) {
    const begun = new Map();
    const seconds = new Map();
    const end = performance.now() + LONGEST_MS;
    const writing = this.create(count, begun);
    writing.catch(() => undefined);
    while (seconds.size < count) {
      if (performance.now() > end) throw new Error(`${count - seconds.size} of ${count} were not delivered`);
      await this.consumer.harvest();
      const now = performance.now();
      for (const [id, at] of begun)
        if (!seconds.has(id) && this.consumer.copy.has(id)) seconds.set(id, (now - at) / 1000);
      await wait(LOOK_MS);
    }
    await writing;
    return [...seconds.values()];
  }

  async create(count, begun) {
    for (let number = 0; number < count; number += 1) {
      const id = `product-of-the-shop-${(this.created += 1)}`;
      const now = new Date();
      const fields = { type: 'product', createDate: now, createdBy: 'bench', lastupdated: now };
      begun.set(id, performance.now());
      await this.products.insertOne({ ...TENANT, id, ...fields, data: { version: 1 } });
      await wait(BETWEEN_MS);
    }
  }
}

function rowsOf(name, seconds, wanted) {
  const [middle, most] = [median(seconds), Math.max(...seconds)];
  say(`  other work: ${name}: median ${middle.toFixed(2)} s, at most ${most.toFixed(2)} s`);
  const figure = `delay of a change, other work: ${name}`;
  return [
    { figure: `${figure}: median of ${seconds.length}`, value: middle, unit: ' s', atMost: wanted.median },
    { figure: `${figure}: maximum`, value: most, unit: ' s', atMost: wanted.most },
  ];
}
