import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { QUIET_OPTIONS } from '../../src/embedded/index.js';
import { testMongod } from '../support/test-mongod.js';
import { freePort } from './free-port.js';

export interface Members {
  /** Host and port of each. */
  hosts: string[];
  stop(): Promise<void>;
}

/**
 * Three members as the Compose file starts them: with a key file, which lets nobody in, and without a configuration. The first has
 * the user root, as the image of MongoDB makes it: before the key file counts.
 */
export async function startMembers(keyFile: string, rootPassword: string): Promise<Members> {
  chmodSync(keyFile, 0o400);
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-members-'));
  const ports = [await freePort(), await freePort(), await freePort()];
  const start = (port: number, ...options: string[]) => mongod(port, join(folder, String(port)), options);
  const first = await start(ports[0]!);
  const client = new mongo.MongoClient(`mongodb://127.0.0.1:${ports[0]}/?directConnection=true`);
  const root = { createUser: 'root', pwd: rootPassword, roles: ['root'] };
  await client.db('admin').command(root);
  await client.close();
  await end(first);
  const locked = ['--replSet', 'tidemark', '--keyFile', keyFile];
  const members = await Promise.all(ports.map((port) => start(port, ...locked)));
  return {
    hosts: ports.map((port) => `127.0.0.1:${port}`),
    stop: async () => {
      await Promise.all(members.map(end));
      rmSync(folder, { recursive: true });
    },
  };
}

async function mongod(port: number, dbPath: string, options: string[]): Promise<ChildProcess> {
  mkdirSync(dbPath, { recursive: true });
  const { program, env } = await testMongod();
  const where = ['--dbpath', dbPath, '--port', String(port), '--bind_ip', '127.0.0.1'];
  const small = ['--oplogSize', '256', '--wiredTigerCacheSizeGB', '0.25', ...QUIET_OPTIONS];
  const child = spawn(program, [...where, ...options, ...small], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      log += String(piece);
      if (log.includes('"Waiting for connections"')) resolve();
    });
    child.once('exit', () => reject(new Error(`mongod ended: ${log}`)));
  });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
