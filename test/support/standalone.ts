import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reticent } from '../../src/embedded/index.js';
import { testMongod } from './test-mongod.js';

export interface Standalone {
  uri: string;
  stop(): Promise<void>;
}

/** A mongod that is not a replica set. It says itself which free port it has taken. */
export async function startStandalone(): Promise<Standalone> {
  const { program, env } = await testMongod();
  const dbPath = await mkdtemp(join(tmpdir(), 'tidemark-standalone-'));
  const place = ['--dbpath', dbPath, '--port', '0', '--bind_ip', '127.0.0.1'];
  const child = spawn(program, [...place, ...reticent], { env, stdio: ['ignore', 'pipe', 'ignore'] });
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
