/** One program after another, each with its heading, its time and an end. */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { clearTimeout, setTimeout } from 'node:timers';
import { endProcesses, MEMORY, SETS, stepEnvironment, sweepFolders } from './leftovers.mjs';

/** For all of them together, where no step says less. */
const longestMs = 12 * 3_600_000;
/** For a program that is told to end, and for the rest of what one has printed. */
const goneMs = 10_000;
const begun = performance.now();
const running = new Set();
const works = [];

/** Does something when the process ends, also by Ctrl-C. */
export function atEnd(work) {
  works.push(work);
}

process.once('exit', () => works.forEach((work) => work()));
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const child of running) send(child, 'SIGKILL');
    endProcesses();
    sweepFolders(MEMORY, SETS);
    process.exit(1);
  });

/**
 * Runs a program, with its output as it comes, or when it has ended for a quiet one: then only where it failed. The answer is
 * what went wrong, `''` if nothing. A program that takes longer than its limit is ended, with all that it has started.
 */
export async function step({ env = {}, isQuiet = false, limitMs = longestMs }, title, program, ...args) {
  if (!isQuiet) console.log(`\n== ${title}`);
  const stepBegun = performance.now();
  const isTerminal = !isQuiet && process.stdout.isTTY;
  const belongs = stepEnvironment();
  const child = spawn(program, args, {
    stdio: ['ignore', ...(isTerminal ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
    ...{ detached: true, env: { ...process.env, ...env, ...belongs } },
  });
  const output = [];
  let last = '';
  const take = (piece) => {
    if (isQuiet) output.push(piece);
    else process.stdout.write(piece);
    last = piece.toString().trimEnd() || last;
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', take);
  const wrong = await endOf(child, Math.min(limitMs, longestMs - (stepBegun - begun)), belongs);
  const seconds = Math.round((performance.now() - stepBegun) / 1000);
  if (isQuiet) console.log(`${wrong === '' ? 'well  ' : 'FAILED'} ${title}, ${seconds} s`);
  if (isQuiet && wrong !== '') console.log(Buffer.concat(output).toString());
  return wrong && (isTerminal ? wrong : `${wrong} (its last line: ${last.split('\n').at(-1)})`);
}

/** What it has started may hold its output open: that is waited for, and no longer than for a while. */
function endOf(child, limitMs, belongs) {
  running.add(child);
  let wrong;
  const late = setTimeout(() => {
    wrong = `it had not ended after ${Math.round(limitMs / 60_000)} minutes, and was ended`;
    send(child, 'SIGTERM');
    setTimeout(() => send(child, 'SIGKILL'), goneMs).unref();
  }, limitMs);
  return new Promise((resolve) => {
    const end = (said) => {
      clearTimeout(late);
      if (wrong !== undefined) endProcesses(belongs);
      running.delete(child);
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      resolve(wrong ?? said);
    };
    const endWith = (code) => end(code === 0 ? '' : `it ended with ${code}`);
    child.once('error', ({ message }) => end(message));
    child.once('exit', (code) => setTimeout(endWith, goneMs, code).unref());
    child.once('close', endWith);
  });
}

/** To all of its group, which holds what it has started. */
function send({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
