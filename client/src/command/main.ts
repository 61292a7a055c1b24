#!/usr/bin/env node
import { runCommand } from './run.js';

const interrupted = new AbortController();
/** A second Ctrl-C ends the process as it is. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  signal: interrupted.signal,
});
