/** The preview of an edited filter over all products: where an index serves it, and where none does. */
import { performance } from 'node:perf_hooks';
import { hashPassword } from '../../dist/auth/index.js';
import { tidemark } from '../contestants/index.mjs';
import { TENANT } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { Server } from '../machine/server.mjs';
import { DATABASE } from '../stage.mjs';
import { median } from './statistics.mjs';

const ADMINISTRATOR = { username: 'preview', password: 'preview-password' };
const MOST_MS = 5000;
/** How many of a hundred match, and how many more after the edit. */
const SHARES = [0.1, 10, 50];
const MORE = 1;
/** Prices lie evenly between these, stocks are whole numbers from 0 below that. */
const [LOWEST, HIGHEST] = [5, 1000];
const STOCKS = 60;
const INDEX = { organizationid: 1, appid: 1, 'data.price': 1 };

const priceBelow = (percent) => ({ 'data.price': { $lt: LOWEST + ((HIGHEST - LOWEST) * percent) / 100 } });
const stockBelow = (percent) => ({ 'data.stock': { $lt: (STOCKS * percent) / 100 } });

export async function preview(stage) {
  const server = await stage.start(tidemark);
  const db = stage.client.db(DATABASE);
  await authorize(db);
  const asking = new Server(server.process, { port: server.port, ...ADMINISTRATOR });
  const begun = performance.now();
  await db.collection('products').createIndex(INDEX);
  const built = (performance.now() - begun) / 1000;
  say(`  the index over the price was made in ${built.toFixed(1)} s`);
  const served = [];
  for (const share of SHARES) served.push(await previewsOf(stage, asking, priceBelow, share));
  await db.collection('products').dropIndex(INDEX);
  const unserved = await previewsOf(stage, asking, stockBelow, SHARES[1]);
  await db.collection('services').deleteMany({ name: /^preview-/ });
  await db.collection('credentials').deleteOne({ username: ADMINISTRATOR.username });
  return rowsOf(stage.options, built, served, unserved);
}

async function authorize(db) {
  const { username, password } = ADMINISTRATOR;
  const passwordhash = await hashPassword(password);
  await db
    .collection('credentials')
    .insertOne({ username, passwordhash, level: 'admin', scopes: [{ ...TENANT, appid: '*' }] });
}

/** Milliseconds of each round, and what the last one told. A name that was never served moves nothing. */
async function previewsOf({ client, options }, server, below, share) {
  const db = client.db(DATABASE);
  const name = `preview-${below.name.toLowerCase()}-${share}`;
  const [filter, inForce] = [below(share + MORE), below(share)];
  await db.collection('services').insertOne({ ...TENANT, kind: 'product', name, filter: inForce });
  const path = `/admin/v1/applications/${TENANT.organizationid}/${TENANT.appid}/preview/product`;
  const connection = server.connection();
  const rounds = [];
  let told;
  for (let round = 0; round < options.rounds; round += 1) {
    const begun = performance.now();
    const { status, body } = await connection.request({ method: 'POST', path, body: { name, filter } });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    rounds.push(performance.now() - begun);
    told = JSON.parse(body);
  }
  connection.close();
  const truth = await db.collection('products').countDocuments({ $and: [TENANT, filter] });
  const shown = told.error === undefined ? 'exact' : `estimated, to ${told.error}`;
  say(
    `  ${name}: ${told.matching.count} match (${truth}), ${told.restamps} move, ${shown}: ${rounds.map(Math.round)} ms`,
  );
  return { share, rounds, told, truth };
}

function rowsOf({ items }, built, served, unserved) {
  const all = items.toLocaleString('en');
  const row = ({ share, rounds, told }, how) => ({
    figure: `preview of an edit over ${all} products, ${share} % match, ${how}`,
    ...{ value: median(rounds), unit: ' ms', atMost: MOST_MS, rounds, told },
  });
  const exact = [...served, unserved].filter(({ told }) => told.error === undefined && !told.isCutOff);
  const wrong = exact.filter(({ told, truth }) => told.matching.count !== truth);
  const error = (100 * (unserved.told.error ?? 0)) / items;
  return [
    ...served.map((one) => row(one, 'by an index')),
    row(unserved, 'without an index'),
    { figure: 'the same: error of its numbers, of all products', value: error, unit: ' %' },
    { figure: `making the index over ${all} products`, value: built, unit: ' s' },
    {
      figure: 'exact counts of previews that are wrong',
      value: wrong.length,
      unit: '',
      atMost: 0,
      isCount: true,
    },
  ];
}
