#!/usr/bin/env node
import { runCommandLine } from './admin/index.js';
import { hasColours, settingsOfProcess } from './config/plain.js';

const { stdin: input, stdout: output, stderr: errors } = process;

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

process.exitCode = await runCommandLine(process.argv.slice(2), settingsOfProcess, {
  ...{ input, output, errors, interruptible },
  colours: { output: hasColours(output), errors: hasColours(errors) },
});
