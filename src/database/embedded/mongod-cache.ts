import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { proveMongod } from './prove-mongod.js';
import { newestFirst } from './versions.js';

const PART = '.part-';
const ONE_DAY = 24 * 60 * 60 * 1000;

/** The mongods that earlier starts fetched into `root`, the newest first. */
export async function cachedMongods(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  const versions = names.filter((name) => /^\d+\.\d+\.\d+$/.test(name));
  return versions.sort(newestFirst).map((version) => join(root, version, 'mongod'));
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
    const home = join(root, await proveMongod(fetched));
    await mkdir(home, { recursive: true });
    await rename(fetched, join(home, 'mongod'));
    return join(home, 'mongod');
  } finally {
    await rm(directory, { recursive: true, force: true });
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
