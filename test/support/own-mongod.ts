import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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
  const short = ['--oplogSize', '10', '--syncdelay', '1'];
  const mongod = await startMongod(['--replSet', 'short', ...short, '--wiredTigerCacheSizeGB', '0.5']);
  const { host } = new URL(mongod.uri);
  const client = new mongo.MongoClient(`${mongod.uri}?directConnection=true`);
  const admin = client.db('admin');
  await admin.command({ replSetInitiate: { _id: 'short', members: [{ _id: 0, host }] } });
  await eventually(async () => (await admin.command({ hello: 1 }))['isWritablePrimary'] === true);
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
      child.kill();
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
