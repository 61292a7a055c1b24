import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { kill, pid as ownPid, uptime } from 'node:process';
import { crc32 } from 'node:zlib';

/** Milliseconds without a new file after which a process on another machine counts as ended. */
const LONG_AGO = 86_400_000;

const here = crc32(hostname()).toString(16);

/** A new folder beside a copy that no other process, and no other store, works in. Its name tells whose it is. */
export function workFolder(path: string): Promise<string> {
  return mkdtemp(`${path}.parts-${here}-${ownPid}-`);
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** Removes the folders of processes that were killed. They only take room: where one cannot be removed, it stays. */
export async function removeLeftovers(path: string): Promise<void> {
  const begin = `${basename(path)}.parts-`;
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names) {
    const owner = name.startsWith(begin) && /^([0-9a-f]+)-(\d+)-\w{6}$/.exec(name.slice(begin.length));
    if (!owner) continue;
    const folder = join(dirname(path), name);
    const made = await stat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (isLeft(owner[1]!, Number(owner[2]), made)) await removeFolder(folder).catch(() => undefined);
  }
}

function isLeft(host: string, pid: number, made: number): boolean {
  if (host !== here) return made < Date.now() - LONG_AGO;
  // In a container that starts again a process gets the number of the one before it.
  if (pid === ownPid) return made < Date.now() - uptime() * 1000;
  return !isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
