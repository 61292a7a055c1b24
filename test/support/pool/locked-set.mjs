import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const REPLICA_SET = 'tidemark';
const ROOT = 'root';

/**
 * Starts a replica set of one member that lets nobody in without a login. Answers its address, with the login of a user who may
 * do everything, and a function that ends it.
 */
export async function startLockedSet(directory, mongodBinary) {
  const { findMongod, mongodEnvironment, QUIET_OPTIONS } = await import('../../../dist/embedded/index.js');
  const { path } = await findMongod({ mongodBinary, say: () => undefined });
  const dbPath = join(directory, 'mongod');
  const keyFile = join(directory, 'key');
  await mkdir(dbPath, { recursive: true });
  await writeFile(keyFile, 'aKeyForTestsOnly', { mode: 0o600 });
  const place = ['--dbpath', dbPath, '--port', '0', '--bind_ip', '127.0.0.1', '--keyFile', keyFile];
  const small = ['--oplogSize', '256', '--wiredTigerCacheSizeGB', '0.5'];
  const mongod = spawn(path, [...place, ...small, '--replSet', REPLICA_SET, ...QUIET_OPTIONS], {
    env: mongodEnvironment(path),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = () => mongod.kill('SIGKILL');
  process.once('exit', end);
  const host = `127.0.0.1:${await portIn(mongod.stdout)}`;
  await initiate(host);
  return {
    uri: `mongodb://${ROOT}:${ROOT}@${host}/?authSource=admin&directConnection=true`,
    stop: async () => {
      process.off('exit', end);
      const ended = once(mongod, 'exit');
      end();
      await ended;
    },
  };
}

async function portIn(stdout) {
  for await (const line of createInterface(stdout)) {
    const { msg, attr } = JSON.parse(line);
    if (msg !== 'Waiting for connections') continue;
    stdout.resume();
    return attr.port;
  }
  throw new Error('mongod ended before it listened');
}

/** The first user may be created from this machine without a login. */
async function initiate(host) {
  const { mongo } = createRequire(import.meta.url)('mongoose');
  const client = new mongo.MongoClient(`mongodb://${host}/?directConnection=true`);
  const admin = client.db('admin');
  await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
  while (!(await admin.command({ hello: 1 })).isWritablePrimary);
  await admin.command({ createUser: ROOT, pwd: ROOT, roles: [ROOT] });
  await client.close();
}
