/** A harvest of services that show only some fields (contract §7), beside the same records shown whole. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { load } from '../data/load.mjs';
import { furnish } from '../data/operator.mjs';
import { productAt, stampAt, TENANT } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { medianOf } from './statistics.mjs';

const DATABASE = 'fields';
const MOST_ITEMS = 10_000;
const LIMIT = 1000;
/** Harvests of a round: the clock of the CPU has ticks of 10 ms. */
const HARVESTS = 5;
/** What ten paths may cost beside none. */
const MOST = 1.15;

const TEN = [
  'number',
  'material',
  'stock',
  'size.depth',
  'size.unit',
  'tags.name',
  'isNew',
  'supplier',
  'vat',
  'ean',
];
const SERVICES = {
  whole: {},
  ten: { fields: { except: TEN.map((name) => `data.${name}`) } },
  short: { fields: { except: ['data.description'] } },
  hashed: { hash: ['data.supplier'] },
};

export async function fields(stage) {
  const items = Math.min(MOST_ITEMS, stage.options.items);
  await lay(stage, items);
  const server = await stage.start(tidemark, DATABASE);
  const measured = [];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const cost = {};
    for (const name of Object.keys(SERVICES)) cost[name] = await costOf(server, name, items);
    say(`  round ${round}, µs an item: ${JSON.stringify(cost)}`);
    measured.push(cost);
  }
  const rounds = measured.slice(1);
  const row = (name, figure, more) => ({
    ...{ figure: `harvest of a service ${figure}: CPU relative to all fields`, unit: 'x', rounds, ...more },
    value: medianOf(rounds, (cost) => cost[name] / cost.whole),
  });
  return [
    row('ten', 'that leaves out ten paths', { atMost: MOST }),
    row('short', 'that leaves out half of the bytes'),
    row('hashed', 'with one hashed field'),
  ];
}

async function lay(stage, items) {
  const db = stage.client.db(DATABASE);
  say(`Loading ${items} products`);
  await furnish(db);
  const services = Object.entries(SERVICES).map(([name, chosen]) => ({
    ...TENANT,
    ...{ kind: 'product', name, filter: {}, ...chosen },
  }));
  await db.collection('services').insertMany(services);
  await load(db.collection('products'), items, (place) => productAt(place, items));
}

/** Harvests all products of a service some times, and answers what that cost the process in microseconds an item. */
async function costOf(server, name, items) {
  const connection = server.connection();
  const before = server.cpu();
  for (let harvest = 0; harvest < HARVESTS; harvest += 1) await harvestAll(connection, name, items);
  connection.close();
  return (server.cpu() - before) / (HARVESTS * items);
}

async function harvestAll(connection, name, items) {
  let count = 0;
  for (let lastoffsetid = ''; count < items;) {
    const window = { to: stampAt(items).toISOString(), lastoffsetid, limit: LIMIT };
    const { status, body } = await connection.request({
      path: feedPath('product', `${name}/updates`, window),
    });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    const { result, nextoffsetid } = JSON.parse(body.toString());
    if (result.length === 0) throw new Error(`gave ${count} of ${items} products of ${name}`);
    count += result.length;
    lastoffsetid = nextoffsetid;
  }
}
