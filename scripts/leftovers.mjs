/**
 * What a run of the tests would leave where it is cut off: programs in process groups of their own, such as mongod, and folders,
 * some of them in memory.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Names the run and the step that a process belongs to, as a path: a step may be a run with steps of its own. */
const BELONGS = 'TIDEMARK_TEST_RUN';

const ROUNDS = 40;
const ROUND_MS = 50;

/** Linux keeps files here in memory: making an index takes a third of the time. */
export const MEMORY = '/dev/shm';
/** How folders with the replica sets of a run are called. */
export const SETS = 'tidemark-test';

const own = [process.env[BELONGS], process.pid].filter((part) => part !== undefined).join('/');
let steps = 0;

/** The environment of one more step of this process, by which {@link endProcesses} knows all that it starts. */
export function stepEnvironment() {
  steps += 1;
  return { [BELONGS]: `${own}/${steps}` };
}

/**
 * Ends every process that a step has started, in whatever group it is; those of all steps where none is given. Linux only: the
 * environment of a process comes from /proc.
 */
export function endProcesses(step = { [BELONGS]: own }) {
  // A process may start another one while it is looked for, and writes until it has ended.
  for (let round = 0; round < ROUNDS && endSeen(step[BELONGS]); round += 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ROUND_MS);
}

function endSeen(path) {
  const belongs = new RegExp(`(?:^|\0)${BELONGS}=${path}(?:/|\0|$)`);
  const pids = readable(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name));
  const seen = pids.filter((pid) => {
    const environment = readable(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '');
    return Number(pid) !== process.pid && belongs.test(environment);
  });
  for (const pid of seen) readable(() => process.kill(Number(pid), 'SIGKILL'));
  return seen.length > 0;
}

/** A new folder for as long as this process lives. Removes those whose process has ended. */
export function folderOfRun(parent, name) {
  sweepFolders(parent, name);
  return mkdtempSync(join(parent, `${name}-${process.pid}-`));
}

/** Removes the folders of {@link folderOfRun} whose process has ended. */
export function sweepFolders(parent, name) {
  for (const entry of readable(() => readdirSync(parent), [])) {
    const [, pid] = new RegExp(`^${name}-(\\d+)-`).exec(entry) ?? [];
    if (pid !== undefined && !isAlive(Number(pid)))
      readable(() => rmSync(join(parent, entry), { recursive: true, force: true, maxRetries: 3 }));
  }
}

/** One that has ended is listed until its parent asks how. */
function isAlive(pid) {
  const state = readable(() => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
  if (state !== undefined) return state !== 'Z';
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** What is looked at may end or go meanwhile. */
function readable(look, otherwise) {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
