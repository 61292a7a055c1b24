import { runConformance } from './run.js';

const { stdin, stdout, stderr, env } = process;

/** The reader of what is printed may end first, as `| head` does: the exit code still says what was found. */
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

process.exitCode = await runConformance({
  words: process.argv.slice(2),
  input: stdin,
  print: (line) => void stdout.write(`${line}\n`),
  complain: (line) => void stderr.write(`${line}\n`),
  hasColours: stdout.isTTY && env['NO_COLOR'] === undefined,
  environment: env,
});
