/**
 * A kind that an operator creates over a shop's own collection of orders, in names and in a shape of its own: the pass over it,
 * `max`, and a whole harvest through the three feeds and through `changes`, each compared with the digest.
 */
import { createHash } from 'node:crypto';
import { URLSearchParams } from 'node:url';
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { load } from '../data/load.mjs';
import { ORDER_KIND, orderAt } from '../data/orders.mjs';
import { TENANT } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';

const DATABASE = 'orders';
const PASS_MS = 30 * 60_000;
const LIMIT = 1000;
const MAXES = 200;
const MODULUS = 1n << 128n;
const KIND = ORDER_KIND.name;
const BASE = `/${TENANT.organizationid}/${TENANT.appid}/api/v1/${KIND}`;
const FEEDS = ['default/updates', 'default/softdeletes', 'harddeletes'];

export async function orders(stage) {
  const { orders: count } = stage.options;
  const { server, seconds } = await servedOrders(stage, count);
  const to = (await told(server, `${BASE}/max`)).offset;
  const max = await costOf(stage, server, MAXES, async () => {
    const connection = server.connection();
    for (let n = 0; n < MAXES; n += 1) await connection.request({ path: `${BASE}/max` });
    connection.close();
  });
  const digest = await told(server, `${BASE}/default/digest?${new URLSearchParams({ to })}`);
  const ways = { 'the three feeds': FEEDS, changes: ['default/changes'] };
  const of = `${count.toLocaleString('en')} orders of another shape`;
  const rows = [];
  for (const [name, feeds] of Object.entries(ways)) rows.push(...(await harvestRows(name, feeds)));
  return [
    { figure: `pass over ${of}: time an order`, value: (seconds * 1e6) / count, unit: ' µs', seconds },
    { figure: `max of ${of}: time`, value: max.time, unit: ' µs' },
    ...rows,
  ];

  async function harvestRows(name, feeds) {
    const sum = { count: 0, digest: 0n };
    const cost = await costOf(stage, server, count, () => drain(server, feeds, to, sum));
    const isEqual = sum.count === count && digest.count === count && digest.digest === hex(sum.digest);
    say(
      `  ${name}: ${sum.count} orders, ${JSON.stringify(cost)}, ${isEqual ? 'as the digest' : 'NOT as the digest'}`,
    );
    const figure = `harvest of ${of} through ${name}`;
    return [
      { figure: `${figure}: CPU`, value: cost.service, unit: ' µs an item', cost },
      { figure: `${figure}: time`, value: cost.time, unit: ' µs an item' },
      {
        figure: `${figure}: differs from the digest`,
        value: Number(!isEqual),
        unit: '',
        atMost: 0,
        isCount: true,
      },
    ];
  }
}

/** A service that delivers `count` orders, and the duration of the pass over them in seconds. */
export async function servedOrders(stage, count) {
  const db = stage.client.db(await stage.furnished(DATABASE));
  say(`Loading ${count} orders`);
  await load(db.collection(ORDER_KIND.collection), count, (place) => orderAt(place));
  const server = await stage.start(tidemark, DATABASE);
  const begun = performance.now();
  await db.collection('kinds').insertOne({ ...ORDER_KIND, ...TENANT });
  const isReady = async () => (await server.get(`${BASE}/max`)).status === 200;
  await until(isReady, { within: PASS_MS, what: 'The pass over the orders' });
  const seconds = (performance.now() - begun) / 1000;
  say(`  the pass over ${count} orders took ${seconds.toFixed(1)} s`);
  return { server, seconds };
}

/** Adds up what all pages tell, as the digest of a service does (contract §1). */
async function drain(server, feeds, to, sum) {
  const connection = server.connection();
  for (const feed of feeds)
    for (let lastoffsetid = '', isMore = true; isMore;) {
      const { status, body } = await connection.request({
        path: feedPath(KIND, feed, { to, lastoffsetid, limit: LIMIT }),
      });
      if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
      const { result, nextoffsetid } = JSON.parse(body.toString());
      for (const { id, lastupdated } of result) add(sum, `${id}\n${lastupdated}`);
      isMore = result.length === LIMIT;
      lastoffsetid = nextoffsetid;
    }
  connection.close();
}

function add(sum, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
  sum.digest = (sum.digest + BigInt(`0x${hash}`)) % MODULUS;
  sum.count += 1;
}

const hex = (digest) => digest.toString(16).padStart(32, '0');

async function told(server, path) {
  const { status, body } = await server.get(path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${body.toString('utf8', 0, 200)}`);
  return JSON.parse(body.toString());
}

/** Microseconds an item, or a request. */
async function costOf(stage, server, items, work) {
  const mongod = stage.mongod.process.pid;
  const before = { service: server.cpu(), mongod: cpuOf(mongod), time: performance.now() * 1000 };
  await work();
  return {
    service: (server.cpu() - before.service) / items,
    mongod: (cpuOf(mongod) - before.mongod) / items,
    time: (performance.now() * 1000 - before.time) / items,
  };
}
