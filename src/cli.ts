import 'reflect-metadata';
import { runCommandLine } from './admin/index.js';
import { settingsOfProcess } from './config/index.js';

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());

const { stdin: input, stdout: output, stderr: errors } = process;
const terminal = { input, output, errors, interrupted: interrupted.signal };

process.exitCode = await runCommandLine(process.argv.slice(2), settingsOfProcess, terminal);
