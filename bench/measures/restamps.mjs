/**
 * What it costs to note which records were stamped anew: the same re-stamps with RESTAMP_HISTORY_DAYS and without, in turns,
 * by the edit of a filter that judges all products the other way round, and by a program that leaves their stamps alone.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { tidemark } from '../contestants/index.mjs';
import { PRODUCT_MAX } from '../contestants/replication-api.mjs';
import { load } from '../data/load.mjs';
import { productAt, TENANT } from '../data/products.mjs';
import { cpuOf } from '../machine/cpu.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { settled } from './settled.mjs';
import { medianOf } from './statistics.mjs';

const DAYS = { noted: '30', silent: '0' };
/** Notes are written once a second. */
const WRITTEN_MS = 1500;
const SERVICE = { ...TENANT, kind: 'product', name: 'half' };
const RESTAMPED = 'tidemark.restamps';

/** How records come to be stamped anew. Each answers when that is done. */
const causes = { 'an edited filter': editFilter, 'stamps left alone': leaveStamps };

export async function restamps(stage) {
  const rounds = Object.fromEntries(Object.keys(causes).map((cause) => [cause, []]));
  const services = {};
  for (const way of Object.keys(DAYS)) services[way] = await furnished(way, stage);
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const ways = Object.keys(DAYS).sort(() => (round % 2 === 0 ? 1 : -1));
    for (const [cause, work] of Object.entries(causes)) {
      const used = {};
      for (const way of ways) used[way] = await usedBy(services[way], stage, work);
      // The first round warms up.
      if (round > 0) rounds[cause].push(used);
      if (round > 0) tell(round, cause, used);
    }
  }
  const noted = await notesIn(services.noted.db);
  if ((await notesIn(services.silent.db)).ids > 0) throw new Error('Notes were made that were switched off');
  return [...Object.entries(rounds).flatMap(([cause, of]) => rowsOf(cause, of)), ...sizeRows(noted)];
}

async function furnished(way, stage) {
  const name = await stage.furnished(`restamps-${way}`);
  const db = stage.client.db(name);
  const items = stage.options.restamps;
  await load(db.collection('products'), items, (place) => productAt(place, items));
  const uri = stage.mongod.uri(name);
  const server = stage.started(await tidemark.start({ uri, settings: { RESTAMP_HISTORY_DAYS: DAYS[way] } }));
  await written(db);
  return { db, server };
}

/** Microseconds of CPU of the service and of `mongod`, and milliseconds until it was done. */
async function usedBy({ db, server }, { mongod }, work) {
  // The mark stands behind all stamps then: what is stamped anew is known by standing behind the mark.
  await server.get(PRODUCT_MAX);
  const now = () => ({ service: server.cpu(), mongod: cpuOf(mongod.process.pid) });
  const [before, since] = [now(), performance.now()];
  await work(db);
  const ms = performance.now() - since;
  await written(db);
  const after = now();
  return { ms, service: after.service - before.service, mongod: after.mongod - before.mongod };
}

async function editFilter(db) {
  const services = db.collection('services');
  const entries = db.collection('tidemark.filterversions');
  const { version } = await entries.findOne(SERVICE);
  await services.updateOne(SERVICE, [
    {
      $set: {
        filter: { $literal: { 'data.number': { $mod: [2, version % 2] } } },
      },
    },
  ]);
  const isSettled = async () => {
    const entry = await entries.findOne(SERVICE);
    return entry.version > version && entry.pending !== true;
  };
  await until(isSettled, { what: 'the edited filter' });
}

/** All of them are above the fence again once there is no stamp at or below it. */
async function leaveStamps(db) {
  const { fence } = await db.collection('tidemark.marks').findOne({ '_id.kind': 'product' });
  const products = db.collection('products');
  await products.updateMany(TENANT, { $inc: { 'data.changes': 1 } });
  const areStamped = async () =>
    (await products.findOne({ ...TENANT, lastupdated: { $lte: fence } })) === null;
  await until(areStamped, { what: 'new stamps' });
}

/** Waits until the watcher has worked through its own re-stamps too, and has noted them. */
async function written(db) {
  await settled(db);
  await wait(WRITTEN_MS);
}

async function notesIn(db) {
  const [sums] = await db
    .collection(RESTAMPED)
    .aggregate([
      { $match: { ids: { $exists: true } } },
      {
        $group: {
          _id: null,
          ids: { $sum: { $size: '$ids' } },
          uncertain: { $sum: { $cond: ['$isCertain', 0, { $size: '$ids' }] } },
          notes: { $sum: 1 },
        },
      },
    ])
    .toArray();
  if (sums === undefined) return { ids: 0 };
  await db.client.db('admin').command({ fsync: 1 });
  const { storageSize, totalIndexSize } = await db.command({ collStats: RESTAMPED });
  return { ...sums, bytes: storageSize + totalIndexSize };
}

function tell(round, cause, { noted, silent }) {
  const text = ({ ms, service, mongod }) =>
    `${(ms / 1000).toFixed(2)} s, service ${(service / 1e6).toFixed(2)} s, mongod ${(mongod / 1e6).toFixed(2)} s`;
  say(`  round ${round}, ${cause}: noted ${text(noted)}; silent ${text(silent)}`);
}

function rowsOf(cause, rounds) {
  const ratio = (part) => medianOf(rounds, ({ noted, silent }) => noted[part] / silent[part]);
  const both = ({ service, mongod }) => service + mongod;
  const row = (figure, value) => ({ figure, value, unit: 'x' });
  return [
    {
      ...row(`re-stamps by ${cause}, recorded: CPU of the leader relative to not recorded`, ratio('service')),
      rounds,
    },
    row(
      'the same, mongod included',
      medianOf(rounds, ({ noted, silent }) => both(noted) / both(silent)),
    ),
    row('the same, time', ratio('ms')),
  ];
}

function sizeRows({ ids, uncertain, notes, bytes }) {
  return [
    { figure: 'notes of re-stamps on disk, indexes included: for each', value: bytes / ids, unit: ' B' },
    { figure: 'the same: re-stamps in a note', value: ids / notes, unit: '' },
    { figure: 'the same: share of uncertain ones', value: (100 * uncertain) / ids, unit: ' %' },
  ];
}
