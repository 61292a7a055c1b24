/**
 * A first start on products that the service has never seen, from its launch until it is ready, beside the least that
 * learning them can cost: one `$merge` in which the server itself writes down their identities.
 */
import { performance } from 'node:perf_hooks';
import { tidemark } from '../contestants/index.mjs';
import { say } from '../machine/say.mjs';
import { DATABASE } from '../stage.mjs';

const OWN = 'first-start';
const MOST = 4;

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
  say(
    `  first start ${started.toFixed(1)} s, $merge ${bare.toFixed(1)} s, by identity ${unique.toFixed(1)} s`,
  );
  await stage.stopServers();
  await stage.client.db(OWN).dropDatabase();
  return rowsOf(stage.options.items, { started, bare, unique });
}

function rowsOf(items, { started, bare, unique }) {
  const figure = `first start with ${items.toLocaleString('en')} products: time beside one $merge of their identities`;
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
