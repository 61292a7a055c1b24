import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environmentWithLibraries } from '../config/plain.js';

/** Where the libraries lie that one mongod brings along: beside it, under a name that no other program uses. */
export function librariesOf(mongod: string): string {
  return join(dirname(mongod), 'mongod-libraries');
}

/** The environment in which a mongod runs: that of this process and, where it has brought libraries, with these. */
export function mongodEnvironment(mongod: string): Record<string, string | undefined> {
  const libraries = librariesOf(mongod);
  return environmentWithLibraries(existsSync(libraries) ? [libraries] : []);
}
