/**
 * A harvest as a process that is killed: it harvests again and again, and where FAILPOINT names a step, kills itself there.
 * Everything it needs stands in HARVEST.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Tidemark } from '../../../client/dist/index.js';
import { Harvester, sourceOf } from '../../../client/dist/harvest/index.js';

const { feed, url, username, password, form, to, table, limit, rounds, startsOver, failpoint } = JSON.parse(
  process.env.HARVEST,
);

let left = failpoint?.times ?? Infinity;
const stepped = (step) => {
  if (failpoint?.step === step && (left -= 1) < 0) process.kill(process.pid, 'SIGKILL');
};

const opening = { sqlite, ndjson, mongodb, postgres };
const store = steppedStore(await opening[form]());
const retries = { times: 60, longestMs: 5000 };
const tidemark = new Tidemark({ url, ...feed, username, password, retries });
const harvester = new Harvester(sourceOf(tidemark, feed), store, limit);
console.log('harvesting');
for (let round = 0; round < rounds; round += 1)
  await harvester.harvest({ startsOver: startsOver && round === 0, onPage: () => stepped('page') });
await store.close();

function steppedStore(inner) {
  const around =
    (method, step = method) =>
    async (argument) => {
      stepped(`before ${step}`);
      await inner[method](argument);
      stepped(`behind ${step}`);
    };
  // The pages of a new start are mended.
  const steps = { apply: around('apply'), mend: around('mend', 'apply'), sweep: around('sweep') };
  return new Proxy(inner, { get: (_, name) => steps[name] ?? inner[name].bind(inner) });
}

async function sqlite() {
  const { default: Database } = await import('libsql');
  const { exec } = Database.prototype;
  Database.prototype.exec = function (sql) {
    if (sql === 'COMMIT') stepped('before commit');
    return exec.call(this, sql);
  };
  const { SqliteStore } = await import('../../../client/dist/stores/sqlite.js');
  return SqliteStore.open(to, table);
}

async function ndjson() {
  const { renameSync } = fs;
  fs.renameSync = (...paths) => {
    stepped('before rename');
    renameSync(...paths);
    stepped('behind rename');
  };
  syncBuiltinESMExports();
  const handle = await fs.promises.open(to, 'a');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { write } = prototype;
  prototype.write = async function (bytes, ...where) {
    if (failpoint?.step === 'before commit' && left < 1) {
      fs.writeSync(this.fd, bytes.subarray(0, Math.floor(bytes.length * failpoint.share)));
      stepped('before commit');
    } else stepped('before commit');
    return write.call(this, bytes, ...where);
  };
  const { NdjsonStore } = await import('../../../client/dist/stores/ndjson/ndjson-store.js');
  return NdjsonStore.open(to, 0);
}

async function mongodb() {
  const { ClientSession } = await import('mongodb');
  const { commitTransaction } = ClientSession.prototype;
  ClientSession.prototype.commitTransaction = function (...options) {
    stepped('before commit');
    return commitTransaction.apply(this, options);
  };
  const { MongodbStore } = await import('../../../client/dist/stores/mongodb.js');
  return MongodbStore.open(to, table);
}

async function postgres() {
  const { default: pg } = await import('pg');
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (text, ...values) {
    if (text === 'COMMIT') stepped('before commit');
    return query.call(this, text, ...values);
  };
  const { PostgresStore } = await import('../../../client/dist/stores/postgres.js');
  return PostgresStore.open(to, table);
}
