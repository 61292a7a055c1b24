/** A harvest of each kind of data, of this service and of the plain one: how far pages cost the same whatever is in them. */
import { plain, tidemark } from '../contestants/index.mjs';
import { productsOf } from '../contestants/replication-api.mjs';
import { applicationOf, DATA_KINDS, productOfKindAt } from '../data/kinds.mjs';
import { load } from '../data/load.mjs';
import { furnish } from '../data/operator.mjs';
import { stampAt } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { medianOf } from './statistics.mjs';

const DATABASE = 'kinds';
const MOST_ITEMS = 10_000;
const LIMIT = 1000;
const WANTED = 10;

/** A row for each kind: the CPU of the plain service beside ours. */
export async function kindRows(stage) {
  const items = Math.min(MOST_ITEMS, stage.options.items);
  await lay(stage, items);
  const own = await stage.start(tidemark, DATABASE);
  const other = await stage.start(plain, DATABASE);
  const rows = [];
  for (const kind of DATA_KINDS) rows.push(await rowOf(kind, { own, other, items }, stage.options.rounds));
  return rows;
}

/** The plain service answers 500 where it meets a Decimal128: then the row tells what ours cost. */
async function rowOf(kind, { own, other, items }, count) {
  const rounds = [];
  const isAnswered = await hasPage(other, kind);
  for (let round = 0; round <= count; round += 1)
    rounds.push({
      own: await costOf(own, kind, items),
      ...(isAnswered && { plain: await costOf(other, kind, items) }),
    });
  const measured = rounds.slice(1);
  const µs = medianOf(measured, (cost) => cost.own);
  say(`  ${kind}: ${µs.toFixed(1)} µs an item`);
  const figure = `harvest of ${kind}: CPU of`;
  if (!isAnswered)
    return { figure: `${figure} this service (${plain.title} answers 500)`, value: µs, unit: ' µs an item' };
  const value = medianOf(measured, (cost) => cost.plain / cost.own);
  return { figure: `${figure} ${plain.title}`, value, unit: 'x', atLeast: WANTED, rounds: measured };
}

async function hasPage(server, kind) {
  const connection = server.connection();
  const window = { to: new Date().toISOString(), lastoffsetid: '', limit: 1 };
  const { status } = await connection.request({ path: productsOf(applicationOf(kind), window) });
  connection.close();
  return status === 200;
}

async function lay(stage, items) {
  const db = stage.client.db(DATABASE);
  say(`Loading ${items} products of each kind`);
  await furnish(db, DATA_KINDS.map(applicationOf));
  for (const kind of DATA_KINDS)
    await load(db.collection('products'), items, (place) => productOfKindAt(kind, place, items));
}

/** Harvests all products of a kind, and answers what that cost the service in microseconds an item. */
async function costOf(server, kind, items) {
  const connection = server.connection();
  const seen = new Set();
  const before = server.cpu();
  for (let lastoffsetid = ''; seen.size < items;) {
    const window = { to: stampAt(items).toISOString(), lastoffsetid, limit: LIMIT };
    const { status, body } = await connection.request({ path: productsOf(applicationOf(kind), window) });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    const { result, nextoffsetid } = JSON.parse(body.toString());
    if (result.length === 0) throw new Error(`gave ${seen.size} of ${items} products of ${kind}`);
    for (const { id } of result) seen.add(id);
    lastoffsetid = nextoffsetid;
  }
  connection.close();
  return (server.cpu() - before) / items;
}
