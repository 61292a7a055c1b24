import { runConformance } from './run.js';

/** As where the server could not be judged. */
const UNWRITTEN = 2;
const { stdin, stdout, stderr, env } = process;

/** The reader of what is printed may end first, as `| head` does: the exit code still says what was found. */
let isUnwritten = false;
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || isUnwritten) return;
  isUnwritten = true;
  stderr.write(`The result cannot be written to stdout: ${error.message}.\n`);
});
stderr.on('error', () => undefined);
process.once('exit', () => {
  if (isUnwritten && process.exitCode === 0) process.exitCode = UNWRITTEN;
});

process.exitCode = await runConformance({
  words: process.argv.slice(2),
  input: stdin,
  print: (line) => void stdout.write(`${line}\n`),
  complain: (line) => void stderr.write(`${line}\n`),
  hasColours: stdout.isTTY && env['NO_COLOR'] === undefined,
  environment: env,
});
