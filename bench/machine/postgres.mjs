/** A PostgreSQL of the bench's own, where its programs are there. */
import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, HOST } from './ports.mjs';
import { Process, run, temporaryDirectory } from './processes.mjs';
import { until } from './until.mjs';

const USER = 'bench';

/** On an empty directory, with its settings as they come but for where it is; it syncs what it commits. `programs`: a folder. */
export async function startPostgres(programs) {
  const cwd = temporaryDirectory();
  const user = unprivileged();
  if (user.uid !== undefined) chownSync(cwd, user.uid, user.gid);
  const data = join(cwd, 'data');
  const made = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(join(programs, 'initdb'), made, { cwd, user });
  const port = await freePort();
  const place = ['-D', data, '-p', String(port), '-k', cwd, '-c', `listen_addresses=${HOST}`];
  // What its processes share goes with the directory, also when the bench is broken off: but for a segment of 56 bytes.
  const memory = ['-c', 'dynamic_shared_memory_type=mmap'];
  const process = new Process(join(programs, 'postgres'), [...place, ...memory], { cwd, user });
  const uri = `postgres://${USER}@${HOST}:${port}/postgres`;
  const query = (text) => asked(uri, text);
  const isUp = () => {
    process.assertRuns();
    return query('SELECT 1').then(
      () => true,
      () => false,
    );
  };
  await until(isUp, { what: 'PostgreSQL' });
  // SIGTERM would wait for whoever is connected.
  return { uri, query, stop: () => process.stop('SIGINT') };
}

async function asked(uri, text) {
  const client = new pg.Client({ connectionString: uri });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** It does not run as root: then it runs as `postgres`. */
function unprivileged() {
  if (process.getuid() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, 'postgres'])));
  return { uid, gid };
}
