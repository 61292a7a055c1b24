import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FatalError } from '../common/index.js';
import { isAlive } from '../config/plain.js';
import { runProgram } from './run-program.js';
import type { Say } from './say.js';

const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

/**
 * Waits until no mongod holds the directory: that of a service which was killed lives a few seconds longer.
 * Throws a FatalError that names the holder where it stays.
 */
export async function waitUntilFree(dbPath: string, say: Say, patienceMs = PATIENCE_MS): Promise<void> {
  const holder = await holderOf(dbPath);
  if (holder === undefined) return;
  say(`Waiting for an earlier mongod (process ${holder}) to leave ${dbPath} …`);
  const deadline = Date.now() + patienceMs;
  while ((await holderOf(dbPath)) !== undefined) {
    if (Date.now() >= deadline) {
      throw new FatalError(
        `mongod, process ${holder}, holds ${dbPath}. Stop it or the service that started it, ` +
          'or set DATA_DIR to another directory.',
      );
    }
    await delay(LOOK_MS);
  }
}

/**
 * The process id of the mongod that runs on the directory. A lock file whose process is gone, or is another program by
 * now, counts for nothing.
 */
export async function holderOf(dbPath: string): Promise<number | undefined> {
  const pid = Number(await readFile(join(dbPath, 'mongod.lock'), 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  return (await commandOf(pid)).includes('mongod') ? pid : undefined;
}

/** Process ids are used again, in containers soon: only the command line tells. A dead, unreaped process has none. */
async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    runProgram('ps', ['-o', 'command=', '-p', String(pid)], 5).catch(() => ''),
  );
}
