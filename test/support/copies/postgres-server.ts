import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/embedded/index.js';
import { postgresPrograms } from '../../../scripts/postgres.mjs';
import { eventually } from '../eventually.js';

export interface PostgresServer {
  /** `postgres://…/postgres`. */
  uri: string;
  stop(): Promise<void>;
}

/** A PostgreSQL of the test's own, on a fresh directory and a free port. It does not run as root: it runs as `postgres` then. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('There is no PostgreSQL: see scripts/postgres.mjs');
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-postgres-'));
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const made = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'tester', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...user, cwd: folder },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`);
  const port = await freePort('127.0.0.1');
  const place = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', folder];
  const child = spawn(join(programs, 'postgres'), [...place, '-c', 'fsync=off'], {
    ...user,
    stdio: 'ignore',
    cwd: folder,
  });
  const isReady = join(programs, 'pg_isready');
  await eventually(() => spawnSync(isReady, ['-q', '-h', '127.0.0.1', '-p', String(port)]).status === 0);
  return {
    uri: `postgres://tester@127.0.0.1:${port}/postgres`,
    stop: async () => {
      child.kill('SIGINT');
      await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, 'postgres']).toString());
}
