/**
 * How soon a plain change is delivered while other programs give the watcher much, or odd, work in another application; and how
 * soon `max` and a small page are answered while another application gives the service much work.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { TENANT } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { Copier } from './lost/copier.mjs';
import { answers } from './neighbours/answers.mjs';
import { works } from './neighbours/works.mjs';
import { median } from './statistics.mjs';

/** Changes in a round. */
const CHANGES = 4;
const BETWEEN_MS = 1000;
const LOOK_MS = 5;
const LONGEST_MS = 120_000;
const MOST_MEDIAN_S = 2;
const MOST_S = 30;

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
  for (const [name, begin] of Object.entries(works)) {
    const work = begin(db, stage.options.neighbours);
    work.catch(() => undefined);
    const seconds = await shop.deliveries(CHANGES * stage.options.rounds);
    await work;
    await shop.deliveries(1);
    rows.push(...rowsOf(name, seconds));
  }
  return rows;
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

function rowsOf(name, seconds) {
  const [middle, most] = [median(seconds), Math.max(...seconds)];
  say(`  beside ${name}: median ${middle.toFixed(2)} s, at most ${most.toFixed(2)} s`);
  const figure = `delivery of a change beside ${name}`;
  return [
    { figure: `${figure}: median of ${seconds.length}`, value: middle, unit: ' s', atMost: MOST_MEDIAN_S },
    { figure: `${figure}: most`, value: most, unit: ' s', atMost: MOST_S },
  ];
}
