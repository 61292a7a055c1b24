/** A mongod of the bench's own, found as the embedded database finds its own. */
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import mongoose from 'mongoose';
import { findMongod, mongodEnvironment, QUIET_OPTIONS } from '../../dist/embedded/index.js';
import { freePort, HOST } from './ports.mjs';
import { Process, temporaryDirectory } from './processes.mjs';
import { say } from './say.mjs';
import { until } from './until.mjs';

const REPLICA_SET = 'bench';
const CACHE_GB = '2';
const OPLOG_MB = '512';

/** A replica set of one on an empty directory, ready for writes. */
export async function startMongod() {
  const { path } = await findMongod({ mongodBinary: process.env.MONGOMS_SYSTEM_BINARY, say });
  const dbpath = join(temporaryDirectory(), 'mongod');
  mkdirSync(dbpath);
  const port = await freePort();
  const place = ['--dbpath', dbpath, '--port', String(port), '--bind_ip', HOST];
  const size = ['--replSet', REPLICA_SET, '--oplogSize', OPLOG_MB, '--wiredTigerCacheSizeGB', CACHE_GB];
  const mongod = new Process(path, [...place, ...size, ...QUIET_OPTIONS, '--quiet'], {
    env: mongodEnvironment(path),
  });
  const client = new mongoose.mongo.MongoClient(`mongodb://${HOST}:${port}/?directConnection=true`);
  const admin = client.db('admin');
  await admin.command({
    replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host: `${HOST}:${port}` }] },
  });
  await until(async () => (await admin.command({ hello: 1 })).isWritablePrimary, { what: 'mongod' });
  return { process: mongod, port, client, uri: (name) => uriOf(port, name) };
}

function uriOf(port, name) {
  return `mongodb://${HOST}:${port}/${name}?replicaSet=${REPLICA_SET}`;
}
