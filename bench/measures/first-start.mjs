/**
 * A first start on products that the service has never seen, from its launch until it is ready, beside the least that
 * learning them can cost: one `$merge` in which the server itself writes down their identities.
 */
import { performance } from 'node:perf_hooks';
import { tidemark } from '../contestants/index.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { DATABASE } from '../stage.mjs';
import { NEIGHBOUR } from './neighbours/bulks.mjs';

const OWN = 'first-start';
const MOST = 4;
const FEW = 100;
const LONGEST_MS = 30 * 60_000;

const IDENTITY = {
  ...{ _id: 0, organizationid: 1, appid: 1, kind: { $literal: 'product' } },
  ...{ id: 1, owner: '$_id' },
};
const UNIQUE = { organizationid: 1, appid: 1, kind: 1, id: 1 };

export async function firstStart(stage) {
  const products = await copied(stage);
  const bare = await mergedInto(products, 'bare', {});
  await stage.client.db(OWN).collection('unique').createIndex(UNIQUE, { unique: true });
  const unique = await mergedInto(products, 'unique', { on: Object.keys(UNIQUE) });
  await stage.furnished(OWN);
  const started = await secondsOf(() => stage.start(tidemark, OWN));
  await stage.stopServers();
  const beside = await besideNeighbour(stage);
  say(
    `  first start ${started.toFixed(1)} s, $merge ${bare.toFixed(1)} s, by identity ${unique.toFixed(1)} s`,
  );
  await stage.client.db(OWN).dropDatabase();
  return [...rowsOf(stage.options.items, { started, bare, unique }), beside];
}

/** The same products beside those of a small application, which is served before them. */
async function besideNeighbour(stage) {
  const db = stage.client.db(OWN);
  const { items } = stage.options;
  for (const name of ['leases', 'ledger', 'marks']) await db.collection(`tidemark.${name}`).drop();
  const small = Array.from({ length: FEW }, (_, n) => ({
    ...NEIGHBOUR,
    id: `p-${n}`,
    lastupdated: new Date(0),
  }));
  await db.collection('products').insertMany(small);
  await db.collection('applications').insertOne({ ...NEIGHBOUR });
  const begun = performance.now();
  await stage.start(tidemark, OWN);
  const first = performance.now() - begun;
  const isOver = async () => ((await db.collection('tidemark.leases').findOne())?.aside ?? []).length === 0;
  await until(isOver, { what: 'The pass over the large application', within: LONGEST_MS });
  const all = performance.now() - begun;
  say(
    `  first start beside ${FEW} records: these after ${Math.round(first)} ms, all after ${Math.round(all)} ms`,
  );
  await stage.stopServers();
  const figure = `first start with ${items.toLocaleString('en')} products: wait of another application, of all of it`;
  return { figure, value: first / all, unit: 'x', first, all };
}

function rowsOf(items, { started, bare, unique }) {
  const figure = `first start with ${items.toLocaleString('en')} products: time relative to one $merge of their identities`;
  return [
    { figure, value: started / bare, unit: 'x', atMost: MOST, started, bare },
    { figure: `${figure} under a unique index`, value: started / unique, unit: 'x', unique },
  ];
}

/** The products in a database of their own, without any index and without anything that the service keeps. */
async function copied(stage) {
  await stage.products('records');
  const into = { $out: { db: OWN, coll: 'products' } };
  await stage.client.db(DATABASE).collection('products').aggregate([into]).toArray();
  return stage.client.db(OWN).collection('products');
}

/** Seconds. */
function mergedInto(products, into, how) {
  const stages = [{ $project: IDENTITY }, { $merge: { into, ...how } }];
  return secondsOf(() => products.aggregate(stages).toArray());
}

async function secondsOf(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
