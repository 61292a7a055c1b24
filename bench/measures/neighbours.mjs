/** How soon a plain change is delivered while other programs give the watcher much, or odd, work in another application. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { TENANT } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { Consumer } from './lost/consumer.mjs';
import { works } from './neighbours/works.mjs';
import { median } from './statistics.mjs';

/** Changes in a round. */
const CHANGES = 4;
const LOOK_MS = 5;
const BETWEEN_MS = 100;
const MOST_MEDIAN_S = 2;
const MOST_S = 30;

export async function neighbours(stage) {
  const database = await stage.furnished('neighbours');
  const db = stage.client.db(database);
  const server = await stage.start(tidemark, database);
  const consumer = new Consumer(server, tidemark.foreignChanges);
  const shop = await Shop.open(db);
  const changes = CHANGES * stage.options.rounds;
  const rows = [];
  for (const [name, begin] of Object.entries(works)) {
    const work = begin(db, stage.options.neighbours);
    work.catch(() => undefined);
    const seconds = [];
    for (let change = 0; change < changes; change += 1) seconds.push(await delivery(shop, consumer));
    await work;
    rows.push(...rowsOf(name, seconds));
  }
  return rows;
}

/** The product of another application that is changed over and over. */
class Shop {
  static KEY = 'product-of-the-shop';
  version = 0;

  constructor(products) {
    this.products = products;
  }

  static async open(db) {
    const products = db.collection('products');
    const fields = { ...TENANT, type: 'product', createDate: new Date(), createdBy: 'bench', data: {} };
    await products.insertOne({ ...fields, id: Shop.KEY, lastupdated: new Date() });
    return new Shop(products);
  }

  async change() {
    this.version += 1;
    const set = { $set: { 'data.version': this.version }, $currentDate: { lastupdated: true } };
    await this.products.updateOne({ ...TENANT, id: Shop.KEY }, set);
  }
}

/** Seconds from a change until a consumer that harvests all the time has it. */
async function delivery(shop, consumer) {
  await wait(BETWEEN_MS);
  await shop.change();
  const begun = performance.now();
  while ((consumer.copy.get(Shop.KEY) ?? 0) < shop.version) {
    await consumer.harvest();
    await wait(LOOK_MS);
  }
  return (performance.now() - begun) / 1000;
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
