#!/usr/bin/env node
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

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: interrupted.signal,
});
