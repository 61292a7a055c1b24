/** Finds a PostgreSQL server for the tests of its copies, and installs Debian's package where there is none and that can be done. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installPackage } from './apt.mjs';

const versions = '/usr/lib/postgresql';

/** The folder of the programs of the newest server there is: of the one that TIDEMARK_TEST_POSTGRES names, or of Debian's. */
export function postgresPrograms() {
  const named = process.env.TIDEMARK_TEST_POSTGRES;
  const found = existsSync(versions)
    ? readdirSync(versions)
        .map(Number)
        .sort((a, b) => b - a)
    : [];
  const folders =
    named === undefined ? found.map((version) => join(versions, String(version), 'bin')) : [named];
  return folders.find((folder) => existsSync(join(folder, 'postgres')));
}

/** Says so where there is none in the end. */
export async function installPostgres() {
  if (!(await installPackage('postgresql', () => postgresPrograms() !== undefined)))
    console.log(
      '\nCopies in PostgreSQL CANNOT BE TESTED HERE: there is no server, and it cannot be installed. Install the package ' +
        'postgresql of Debian, or name the folder of its programs with TIDEMARK_TEST_POSTGRES.',
    );
}
