import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mongo } from 'mongoose';
import { QUIET_OPTIONS } from '../../src/embedded/index.js';
import { eventually } from './eventually.js';
import { testMongod } from './test-mongod.js';

const REPLICA_SET = ['--replSet', 'own', '--wiredTigerCacheSizeGB', '0.5'];

export interface OwnMongod {
  uri: string;
  stop(): Promise<void>;
}

/** A mongod that is not a replica set. */
export function startStandalone(): Promise<OwnMongod> {
  return startMongod([]);
}

/** A mongod that waits for `rs.initiate()`. */
export function startUninitiated(): Promise<OwnMongod> {
  return startMongod(REPLICA_SET);
}

/** A replica set of one with the shortest log that the server can keep: it rolls over within 40 MB of writes. */
export async function startShortLog(): Promise<OwnMongod> {
  return startReplicaSet(['--oplogSize', '10', '--syncdelay', '1']);
}

/** A replica set of one whose work ends with it, however long it would take. */
export function startOwn(): Promise<OwnMongod> {
  return startReplicaSet([]);
}

/** A replica set of one whose commands a test may make fail (`failCommand`). */
export function startFailing(): Promise<OwnMongod> {
  return startReplicaSet(['--setParameter', 'enableTestCommands=1']);
}

/** A server whose files can be copied while it runs, and put back. */
export interface RestorableMongod extends OwnMongod {
  /** Copies the files, in the place of an earlier copy. */
  backUp(): Promise<void>;
  /** Ends the server, and starts it again at the same port with the files of the copy. */
  restore(): Promise<void>;
}

/** A replica set of one that can be restored from a copy of its files. */
export async function startRestorable(): Promise<RestorableMongod> {
  let mongod = await startReplicaSet([]);
  const { uri, dbPath } = mongod;
  const copy = await mkdtemp(join(tmpdir(), 'tidemark-backup-'));
  return {
    uri,
    backUp: async () => {
      const client = new mongo.MongoClient(`${uri}?directConnection=true`);
      const admin = client.db('admin');
      await admin.command({ fsync: 1, lock: true });
      await rm(copy, { recursive: true });
      await cp(dbPath, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      await admin.command({ fsyncUnlock: 1 });
      await client.close();
    },
    restore: async () => {
      await mongod.stop();
      await cp(copy, dbPath, { recursive: true });
      mongod = await startMongod(REPLICA_SET, { dbPath, port: new URL(uri).port });
      await becomesPrimary(uri);
    },
    stop: async () => {
      await mongod.stop();
      await rm(copy, { recursive: true });
    },
  };
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

/** A server that was started here, and where its files are. */
interface StartedMongod extends OwnMongod {
  dbPath: string;
}

async function startReplicaSet(
  options: string[],
  prepare: (admin: mongo.Db) => Promise<unknown> = () => Promise.resolve(),
): Promise<StartedMongod> {
  const mongod = await startMongod([...REPLICA_SET, ...options]);
  const { host } = new URL(mongod.uri);
  const client = new mongo.MongoClient(`${mongod.uri}?directConnection=true`);
  const admin = client.db('admin');
  await admin.command({ replSetInitiate: { _id: 'own', members: [{ _id: 0, host }] } });
  await becomesPrimary(mongod.uri);
  await prepare(admin);
  await client.close();
  return mongod;
}

async function becomesPrimary(uri: string): Promise<void> {
  const client = new mongo.MongoClient(`${uri}?directConnection=true`);
  const hello = () => client.db('admin').command({ hello: 1 });
  await eventually(async () => (await hello())['isWritablePrimary'] === true);
  await client.close();
}

/** Without a place, on files of its own and a free port, which it chooses itself. */
async function startMongod(
  options: string[],
  place: { dbPath?: string; port?: string } = {},
): Promise<StartedMongod> {
  const { program, env } = await testMongod();
  const { dbPath = await mkdtemp(join(tmpdir(), 'tidemark-mongod-')), port = '0' } = place;
  const where = ['--dbpath', dbPath, '--port', port, '--bind_ip', '127.0.0.1'];
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  const child = spawn(program, [...where, ...options, ...QUIET_OPTIONS], { env, stdio });
  const taken = await portIn(createInterface(child.stdout));
  child.stdout.resume();
  return {
    uri: `mongodb://127.0.0.1:${taken}/tidemark`,
    dbPath,
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
