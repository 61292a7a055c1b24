#!/usr/bin/env node
import { EXIT } from './exit-codes.js';
import { failureLine } from './failure.js';
import { runCommand } from './run.js';

const interrupted = new AbortController();
/** A second Ctrl-C ends the process as it is. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

/** Milliseconds between two checks that npx still runs. */
const CHECK_MS = 500;
/** npm and npx start programs through a shell, which ends on SIGTERM without passing it on. */
if (process.env['npm_lifecycle_event'] !== undefined) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) interrupted.abort();
  }, CHECK_MS).unref();
}

/** The reader of what is printed may end first, as `| head` does: the exit code still says how the command ended. */
let isUnwritten = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || isUnwritten) return;
  isUnwritten = true;
  const message = `The result cannot be written to stdout: ${error.message}.`;
  process.stderr.write(failureLine({ message, exitCode: EXIT.unwritten }, process.argv.includes('--json')));
});
process.stderr.on('error', () => undefined);
process.once('exit', () => {
  if (isUnwritten && process.exitCode === EXIT.done) process.exitCode = EXIT.unwritten;
});

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: interrupted.signal,
});
