import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mongo } from 'mongoose';
import { reticent } from '../../src/embedded/index.js';
import { eventually } from './eventually.js';
import { testMongod } from './test-mongod.js';

export interface OwnMongod {
  uri: string;
  stop(): Promise<void>;
}

/** A mongod that is not a replica set. */
export function startStandalone(): Promise<OwnMongod> {
  return startMongod([]);
}

/** A replica set of one with the shortest log that the server can keep: it rolls over within 40 MB of writes. */
export async function startShortLog(): Promise<OwnMongod> {
  return startReplicaSet(['--oplogSize', '10', '--syncdelay', '1']);
}

/** A replica set of one whose work ends with it, however long it would take. */
export function startOwn(): Promise<OwnMongod> {
  return startReplicaSet([]);
}

/** Somebody who may come in: a name, which is the password too, and what they may do. */
export interface LockedUser {
  name: string;
  roles: mongo.Document[];
}

/** A replica set of one that lets nobody in but these users. */
export async function startLocked(
  users: LockedUser[],
): Promise<OwnMongod & { as: (name: string) => string }> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-key-'));
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, 'aKeyForTestsOnly', { mode: 0o600 });
  const create = (admin: mongo.Db, { name, roles }: LockedUser) =>
    admin.command({ createUser: name, pwd: name, roles });
  const root = { name: 'root', roles: [{ role: 'root', db: 'admin' }] };
  const mongod = await startReplicaSet(['--keyFile', keyFile], (admin) => create(admin, root));
  const as = (name: string) =>
    `${mongod.uri.replace('//', `//${name}:${name}@`)}?authSource=admin&directConnection=true`;
  const client = new mongo.MongoClient(as(root.name));
  for (const user of users) await create(client.db('admin'), user);
  await client.close();
  const stop = () => mongod.stop().then(() => rm(directory, { recursive: true }));
  return { ...mongod, as, stop };
}

async function startReplicaSet(
  options: string[],
  prepare: (admin: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
): Promise<OwnMongod> {
  const mongod = await startMongod(['--replSet', 'own', '--wiredTigerCacheSizeGB', '0.5', ...options]);
  const { host } = new URL(mongod.uri);
  const client = new mongo.MongoClient(`${mongod.uri}?directConnection=true`);
  const admin = client.db('admin');
  await admin.command({ replSetInitiate: { _id: 'own', members: [{ _id: 0, host }] } });
  await eventually(async () => (await admin.command({ hello: 1 }))['isWritablePrimary'] === true);
  await prepare(admin);
  await client.close();
  return mongod;
}

/** It says itself which free port it has taken. */
async function startMongod(options: string[]): Promise<OwnMongod> {
  const { program, env } = await testMongod();
  const dbPath = await mkdtemp(join(tmpdir(), 'tidemark-mongod-'));
  const place = ['--dbpath', dbPath, '--port', '0', '--bind_ip', '127.0.0.1'];
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  const child = spawn(program, [...place, ...options, ...reticent], { env, stdio });
  const port = await portIn(createInterface(child.stdout));
  child.stdout.resume();
  return {
    uri: `mongodb://127.0.0.1:${port}/tidemark`,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(dbPath, { recursive: true });
    },
  };
}

async function portIn(log: AsyncIterable<string>): Promise<number> {
  for await (const line of log) {
    const { msg, attr } = JSON.parse(line) as { msg: string; attr?: { port?: number } };
    if (msg === 'Waiting for connections' && attr?.port !== undefined) return attr.port;
  }
  throw new Error('mongod ended before it listened');
}
