/**
 * What a service needs by the number of records and of consumers: CPU, memory and disk, of the service and of `mongod`. The
 * tables of docs/sizing.md come from it.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import mongoose from 'mongoose';
import { hashPassword } from '../../dist/auth/index.js';
import { tidemark } from '../contestants/index.mjs';
import { PRODUCT_MAX } from '../contestants/replication-api.mjs';
import { load } from '../data/load.mjs';
import { idAt, productAt, TENANT } from '../data/products.mjs';
import { cpuOf, forgetPeakOf, peakOf, residentOf } from '../machine/cpu.mjs';
import { basic } from '../machine/login.mjs';
import { say } from '../machine/say.mjs';
import { until } from '../machine/until.mjs';
import { answered } from './answered.mjs';
import { settled } from './settled.mjs';
import { diskOf, logSince } from './sizing/disk.mjs';
import { follow, harvestAll, WAYS } from './sizing/followers.mjs';

const { ObjectId } = mongoose.mongo;

const PASSWORD = 'bench-password';
/** One sentence: a product of about 600 bytes. */
const DESCRIPTION = 75;
const MOST_CHANGES = 20_000;
const WRITERS = 16;
/** Of all consumers together. What the comparison of a password costs is measured by itself. */
const CREDENTIALS = 20;
const CHANGES_A_SECOND = 10;
/** Far apart in `_id` order, and a prime above every number of records. */
const STRIDE = 15_485_863;
const SETTLED_MS = 5000;
const LONGEST_MS = 30 * 60_000;
const MB = 1024 ** 2;
const MINUTE_S = 60;

export async function sizing(stage) {
  const rows = [];
  for (const records of stage.options.sizes) rows.push(...(await new Size(stage, records).rows()));
  return rows;
}

/** One number of records, in a database of its own that is gone afterwards. */
class Size {
  found = [];
  changed = 0;

  constructor(stage, records) {
    this.stage = stage;
    this.records = records;
  }

  async rows() {
    this.db = this.stage.client.db(await this.stage.furnished(`sizing-${this.records}`));
    say(`Loading ${this.records} products`);
    await load(this.db.collection('products'), this.records, (place) => smallProductAt(place, this.records));
    await this.db.client.db('admin').command({ fsync: 1 });
    await this.firstPass();
    await this.disk();
    await this.rest();
    await this.harvest();
    await this.stream();
    await this.login();
    for (const consumers of this.stage.options.consumers)
      for (const way of Object.keys(WAYS)) await this.followed(consumers, way);
    await this.stage.stopServers();
    await this.db.dropDatabase();
    return this.found;
  }

  async firstPass() {
    const mongod = cpuOf(this.stage.mongod.process.pid);
    const since = await this.now();
    this.server = await this.stage.start(tidemark, this.db.databaseName);
    const isOver = async () => {
      const lease = await this.db.collection('tidemark.leases').findOne({ _id: 'watcher' });
      return (lease.aside ?? []).length === 0;
    };
    await until(isOver, { what: 'The first pass', within: LONGEST_MS });
    await settled(this.db);
    this.tell('first pass: CPU of the service', this.server.cpu() / 1e6, ' s');
    this.tell('first pass: CPU of mongod', (cpuOf(this.stage.mongod.process.pid) - mongod) / 1e6, ' s');
    this.tell('first pass: peak of memory', peakOf(this.server.process.pid) / MB, ' MB');
    const log = await logSince(this.db, since);
    if (log !== undefined)
      this.tell('first pass: log of the database for a record', log.all / this.records, ' B');
  }

  async disk() {
    const { products, ledger, rest } = await diskOf(this.db);
    const each = (figure, bytes) => this.tell(figure, bytes / this.records, ' B');
    each('a record, as BSON', products.stored);
    each('a record on disk, compressed', products.data);
    each('a record on disk, its indexes', products.indexes);
    each('a record in the ledger, as BSON', ledger.stored);
    each('a record in the ledger on disk, compressed', ledger.data);
    each('a record in the ledger on disk, its indexes', ledger.indexes);
    this.tell('all other collections of the service on disk', rest / MB, ' MB');
  }

  async rest() {
    await this.calm();
    await this.minutes('at rest', () => wait(this.stage.options.idleSeconds * 1000));
    this.tell('at rest: memory of mongod', residentOf(this.stage.mongod.process.pid) / MB, ' MB');
  }

  async harvest() {
    const used = await this.used(async () => {
      const { items, cursor } = await harvestAll(this.server);
      if (items !== this.records) throw new Error(`A harvest gave ${items} of ${this.records} records`);
      this.cursor = cursor;
    });
    const each = (cpu) => cpu / this.records;
    this.tell('a harvest: CPU of the service for 1,000 records', each(used.service), ' ms');
    this.tell('a harvest: CPU of mongod for 1,000 records', each(used.mongod), ' ms');
    this.tell('a harvest: peak of memory', used.peak / MB, ' MB');
  }

  /** Other programs change one record after the other, as fast as the database takes it. */
  async stream() {
    const changes = Math.min(MOST_CHANGES, this.records);
    const since = await this.now();
    const used = await this.used(async () => {
      let rest = changes;
      const writer = async () => {
        while (rest-- > 0) await this.change();
      };
      await Promise.all(Array.from({ length: WRITERS }, writer));
      await settled(this.db);
    });
    const log = await logSince(this.db, since);
    this.tell('a change: CPU of the service', used.service / changes, ' µs');
    this.tell('a change: CPU of mongod, the write included', used.mongod / changes, ' µs');
    this.tell('a change: peak of memory', used.peak / MB, ' MB');
    if (log === undefined) return;
    this.tell('a change: log of the database', log.all / changes, ' B');
    this.tell('oplog for each change: writes of the service', log.own / changes, ' B');
  }

  /** The newest position in the log of the database. */
  async now() {
    return (await this.db.client.db('admin').command({ hello: 1 })).operationTime;
  }

  async followed(consumers, way) {
    const name = `${consumers.toLocaleString('en')} consumers ${WAYS[way]}`;
    this.cursor = (await harvestAll(this.server, this.cursor)).cursor;
    const followers = await follow(this.server, {
      ...{ consumers, way, cursor: this.cursor },
      logins: await this.logins(CREDENTIALS),
    });
    await this.calm();
    const seconds = this.stage.options.idleSeconds;
    await this.state(`${name}, at rest`, followers, () => wait(seconds * 1000));
    const changes = seconds * CHANGES_A_SECOND;
    const figure = `${name}, ${CHANGES_A_SECOND} changes a second`;
    await this.state(figure, followers, () => this.paced(changes));
    const missing = () => Math.max(0, changes - followers.least());
    await until(() => missing() === 0, { what: 'The last consumer', within: MINUTE_S * 1000 }).catch(
      () => undefined,
    );
    this.found.push({
      figure: this.named(`${figure}: changes that a consumer lacks`),
      value: missing(),
      unit: '',
      ...NONE,
    });
    await followers.end();
  }

  /** What followers cost, and how much they were given for it: on a busy machine they harvest less often. */
  async state(figure, followers, work) {
    const before = followers.count();
    const { service, mongod, seconds } = await this.minutes(figure, work);
    const after = followers.count();
    const harvests = after.harvests - before.harvests;
    this.tell(`${figure}: harvests a second`, harvests / seconds, '');
    this.tell(`${figure}: answered 429 or 503`, after.refused - before.refused, '');
    if (harvests === 0) return;
    this.tell(`${figure}: CPU of the service a harvest`, service / 1000 / harvests, ' ms');
    this.tell(`${figure}: CPU of mongod a harvest`, mongod / 1000 / harvests, ' ms');
  }

  /** What the work before has left to do is done by then. */
  calm() {
    return wait(Math.min(SETTLED_MS, this.stage.options.idleSeconds * 1000));
  }

  /** New credentials. */
  async logins(count) {
    const logins = Array.from({ length: count }, () => ({ username: randomUUID(), password: PASSWORD }));
    const passwordhash = await hashPassword(PASSWORD);
    const stored = logins.map(({ username }) => ({
      ...{ username, passwordhash, level: 'read', scopes: [TENANT] },
    }));
    await this.db.collection('credentials').insertMany(stored);
    return logins;
  }

  /** The first requests of new credentials beside the same once more: what it costs to compare a password. */
  async login() {
    const logins = await this.logins(CREDENTIALS);
    const each = async () => {
      for (const { username, password } of logins) {
        const connection = this.server.connection(basic(username, password));
        await answered(() => connection.request({ path: PRODUCT_MAX }));
        connection.close();
      }
    };
    const first = await this.used(each);
    const again = await this.used(each);
    this.tell('a login: CPU of the service', (first.service - again.service) / 1000 / CREDENTIALS, ' ms');
  }

  /** Changes one record after the other, evenly. */
  async paced(changes) {
    const begun = performance.now();
    for (let made = 1; made <= changes; made += 1) {
      await this.change();
      await wait(Math.max(0, begun + (made * 1000) / CHANGES_A_SECOND - performance.now()));
    }
  }

  /** Another program gives the next record a new state and a new stamp. */
  async change() {
    const place = (this.changed++ * STRIDE) % this.records;
    const state = { 'data.stock': { $add: ['$data.stock', 1] }, lastupdated: '$$NOW' };
    await this.db.collection('products').updateOne({ _id: new ObjectId(idAt(place)) }, [{ $set: state }]);
  }

  /** CPU by the minute, and memory. */
  async minutes(figure, work) {
    const begun = performance.now();
    const used = await this.used(work);
    const seconds = (performance.now() - begun) / 1000;
    const aMinute = (cpu) => ((cpu / 1e6) * MINUTE_S) / seconds;
    this.tell(`${figure}: CPU of the service a minute`, aMinute(used.service), ' s');
    this.tell(`${figure}: CPU of mongod a minute`, aMinute(used.mongod), ' s');
    this.tell(`${figure}: peak of memory`, used.peak / MB, ' MB');
    return { ...used, seconds };
  }

  /** Microseconds of the service and of `mongod`, and the peak of the service's memory in bytes. */
  async used(work) {
    const mongod = this.stage.mongod.process.pid;
    const { pid } = this.server.process;
    const now = () => ({ service: this.server.cpu(), mongod: cpuOf(mongod) });
    forgetPeakOf(pid);
    const before = now();
    await work();
    const after = now();
    return {
      service: after.service - before.service,
      mongod: after.mongod - before.mongod,
      peak: peakOf(pid),
    };
  }

  tell(figure, value, unit) {
    say(`  ${this.named(figure)}: ${Number(value.toPrecision(4))}${unit}`);
    this.found.push({ figure: this.named(figure), value, unit });
  }

  named(figure) {
    return `${this.records.toLocaleString('en')} records: ${figure}`;
  }
}

const NONE = { atMost: 0, isCount: true };

function smallProductAt(place, records) {
  const product = productAt(place, records);
  const description = product.data.description.slice(0, DESCRIPTION);
  return { ...product, data: { ...product.data, description } };
}
