import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cacheDir } from '../config/plain.js';
import { librariesOf } from './libraries.js';
import { proveMongod } from './prove-mongod.js';
import { newestFirst } from './versions.js';

const PART = '.part-';
const ONE_DAY = 24 * 60 * 60 * 1000;

/** Where mongods are kept that were fetched. */
export function mongodCache(): string {
  return join(cacheDir(), 'mongod');
}

/** The mongods that earlier starts fetched into `root`, the newest first. */
export async function cachedMongods(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  const versions = names.filter((name) => /^\d+\.\d+\.\d+$/.test(name));
  return versions.sort(newestFirst).map((version) => join(root, version, 'mongod'));
}

/** The version of a mongod of the cache. */
export function versionOfCached(mongod: string): string {
  return basename(dirname(mongod));
}

/**
 * Lets `fetch` bring a mongod into a directory of its own, and moves it to `<root>/<version>/mongod` once it has proved
 * itself: another start sees it whole or not at all, and two that fetch at the same time do not meet.
 */
export async function fetchIntoCache(
  root: string,
  fetch: (directory: string) => Promise<string>,
): Promise<string> {
  await mkdir(root, { recursive: true });
  await removeAbandoned(root);
  const directory = await mkdtemp(join(root, PART));
  try {
    const fetched = await fetch(directory);
    await chmod(fetched, 0o755);
    const mongod = join(root, await proveMongod(fetched), 'mongod');
    await mkdir(dirname(mongod), { recursive: true });
    await moveLibraries(librariesOf(fetched), librariesOf(mongod));
    await rename(fetched, mongod);
    return mongod;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** They come before their mongod. Where another start was quicker, its own serve: what is fetched is always the same. */
async function moveLibraries(from: string, to: string): Promise<void> {
  if (existsSync(from) && !existsSync(to)) {
    await rename(from, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  }
}

/** What a start that was killed left behind; younger directories may be in use by a start that still runs. */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(PART)) continue;
    const directory = join(root, name);
    const state = await stat(directory).catch(() => undefined);
    if (state !== undefined && Date.now() - state.mtimeMs > ONE_DAY) {
      await rm(directory, { recursive: true, force: true });
    }
  }
}
