/**
 * `max` and a small page of one application, alone and beside each load that another one, or a stranger, puts on the service.
 * With TIDEMARK_BEFORE, the `dist/main.js` of an earlier build, the same is measured of that build in the same run.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { hashPassword } from '../../../dist/auth/index.js';
import { tidemark } from '../../contestants/index.mjs';
import { feedPath, PRODUCT_MAX } from '../../contestants/replication-api.mjs';
import { productAt, TENANT } from '../../data/products.mjs';
import { say } from '../../machine/say.mjs';
import { median, p99 } from '../statistics.mjs';
import { LOGIN, loads, OWN } from './loads.mjs';

const PRODUCTS = 2000;
const BATCH = 5000;
const PAGE = 10;
const BETWEEN_MS = 5;
/** What takes longer counts as this, and as not answered (milliseconds). */
const LONGEST_MS = 15_000;
const WARM_UP_MS = 2000;
const SETTINGS = { CREDENTIAL_PAGES: '', TRUST_PROXY: 'loopback' };

export async function answers(stage) {
  const rows = [];
  const { TIDEMARK_BEFORE: before } = globalThis.process.env;
  for (const [which, main] of [['', undefined], ...(before === undefined ? [] : [[' (before)', before]])]) {
    say(`Answers during other loads${which}`);
    rows.push(...(await answersOf(stage, which, main)));
    await stage.stopServers();
  }
  return rows;
}

async function answersOf(stage, which, main) {
  const database = await stage.furnished(`answers${main === undefined ? '' : '-before'}`);
  const db = stage.client.db(database);
  await furnishNeighbour(db, stage.options.neighbours);
  const server = await stage.start(tidemark, database, { settings: SETTINGS, main });
  const ms = Math.min(stage.options.stallSeconds * 1000, 10_000);
  await probe(server, { until: wait(WARM_UP_MS) });
  const rows = [];
  for (const [name, begin] of Object.entries(loads)) {
    const end = await begin(server, db);
    const found = await probe(server, { until: wait(ms) });
    await end();
    await probe(server, { until: wait(WARM_UP_MS) });
    rows.push(...rowsOf(`${name}${which}`, found));
  }
  return rows;
}

/** Each of the two on a connection of its own, again and again: the milliseconds, and how many were not answered 200. */
async function probe(server, { until }) {
  let isOver = false;
  void until.then(() => (isOver = true));
  const to = new Date().toISOString();
  const paths = {
    max: PRODUCT_MAX,
    'a page': feedPath('product', 'default/updates', { to, lastoffsetid: '', limit: PAGE }),
  };
  const found = await Promise.all(
    Object.entries(paths).map(async ([what, path]) => {
      const [times, refused] = [[], []];
      let connection = server.connection();
      while (!isOver || times.length === 0) {
        const begun = performance.now();
        const status = await within(LONGEST_MS, connection.request({ path }));
        times.push(performance.now() - begun);
        if (status !== 200) refused.push(status);
        if (typeof status !== 'number') {
          connection.close();
          connection = server.connection();
        }
        await wait(BETWEEN_MS);
      }
      connection.close();
      return [what, { times, refused }];
    }),
  );
  return Object.fromEntries(found);
}

/** The status, or a word where there is none. */
function within(ms, request) {
  const tooLate = wait(ms, 'no answer', { ref: false });
  return Promise.race([request.then(({ status }) => status), tooLate]).catch(() => 'connection lost');
}

function rowsOf(name, found) {
  return Object.entries(found).map(([what, { times, refused }]) => {
    const figures = { p50: median(times), p99: p99(times), refused: refused.length, of: times.length };
    const failures = refused.length === 0 ? '' : `; ${refused.length} of ${times.length} not 200`;
    const text = `${figures.p50.toFixed(1)} ms, ${figures.p99.toFixed(1)} ms${failures}`;
    say(`  ${what}, other load: ${name}: ${text}`);
    return { figure: `${what}, other load: ${name}: p50, p99`, text, ...figures };
  });
}

/** The neighbour has an administrator, and products among which one has a text on which slow patterns take long. */
async function furnishNeighbour(db, count) {
  const products = db.collection('products');
  await products.insertMany(Array.from({ length: PRODUCTS }, (_, place) => productAt(place, PRODUCTS)));
  for (let first = 0; first < count; first += BATCH)
    await products.insertMany(
      Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
        const { _id, ...fields } = productAt(first + index, count);
        return { ...fields, ...OWN };
      }),
    );
  const { _id, ...long } = productAt(0, count);
  await products.insertOne({ ...long, ...OWN, id: 'long', data: { text: 'a'.repeat(1000) } });
  await db.collection('applications').insertOne({ ...OWN, title: 'Neighbour' });
  const { username, password } = LOGIN;
  await db.collection('credentials').insertOne({
    ...{ username, passwordhash: await hashPassword(password), level: 'admin', scopes: [OWN] },
  });
  if (TENANT.organizationid !== OWN.organizationid)
    throw new Error('The neighbour is of another organization');
}
