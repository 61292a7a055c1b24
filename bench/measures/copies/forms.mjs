/**
 * The kinds of copy that the client keeps. Each finds a place for one that is empty at first: where it is, as `to`, and how it
 * is emptied again. No place where its server is not installed.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { postgresPrograms } from '../../../scripts/postgres.mjs';
import { startPostgres } from '../../machine/postgres.mjs';
import { temporaryDirectory } from '../../machine/processes.mjs';
import { say } from '../../machine/say.mjs';

const DATABASE = 'copy';

export const forms = [
  { name: 'sqlite', title: 'SQLite', place: () => fileNamed('copy.sqlite') },
  { name: 'ndjson', title: 'NDJSON', place: () => fileNamed('copy.ndjson') },
  { name: 'mongodb', title: 'MongoDB', place: databaseOf },
  { name: 'postgres', title: 'PostgreSQL', place: tableOf },
];

/** What lies beside a file, such as its log, goes with it. */
function fileNamed(name) {
  const folder = temporaryDirectory();
  const clear = async () => {
    for (const one of await readdir(folder)) await rm(join(folder, one), { recursive: true });
  };
  return { to: join(folder, name), clear };
}

function databaseOf({ mongod }) {
  return { to: mongod.uri(DATABASE), clear: () => mongod.client.db(DATABASE).dropDatabase() };
}

async function tableOf(stage) {
  const programs = postgresPrograms();
  if (programs === undefined) {
    say('  PostgreSQL is not installed here: no copy in it is measured');
    return undefined;
  }
  const { uri, query } = stage.started(await startPostgres(programs));
  return { to: uri, clear: () => query('DROP TABLE IF EXISTS products, tidemark_copies') };
}
