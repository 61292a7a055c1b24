/** One program after another, each with its heading, its time and an end. */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { clearTimeout, setTimeout } from 'node:timers';

/** For all of it: whoever waits for the last line waits no longer. */
const longestMs = 80 * 60_000;
/** For a program that is told to end, and for the rest of what one has printed. */
const goneMs = 10_000;
const begun = performance.now();
const running = new Set();

/** Seconds of each step by title, in the order in which they ended. */
export const took = [];

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const child of running) send(child, 'SIGKILL');
    process.exit(1);
  });

/**
 * Runs a step under its heading, with its output as it comes, or when it has ended where others run beside it. The answer is
 * what went wrong, `''` if nothing. A step that takes longer than its limit is ended, with all that it has started.
 */
export async function step({ env = {}, isBeside = false, limitMs = longestMs }, title, program, ...args) {
  console.log(isBeside ? `\n== ${title}: begun` : `\n== ${title}`);
  const stepBegun = performance.now();
  const output = [];
  let last = '';
  const take = (piece) => {
    if (isBeside) output.push(piece);
    else process.stdout.write(piece);
    last = piece.toString().trimEnd() || last;
  };
  const child = spawn(program, args, {
    ...{ stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...process.env, ...env } },
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', take);
  const wrong = await endOf(child, Math.min(limitMs, longestMs - (stepBegun - begun)));
  took.push([title, (performance.now() - stepBegun) / 1000]);
  if (isBeside) console.log(`\n== ${title}\n${Buffer.concat(output).toString()}`);
  return wrong && `${wrong} (its last line: ${last.split('\n').at(-1)})`;
}

/** What is still running in place of it may hold its output open: that is waited for, and no longer than for a while. */
function endOf(child, limitMs) {
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
      running.delete(child);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
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
    // Nobody of it is left.
  }
}
