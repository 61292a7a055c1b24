import { runConformance } from './run.js';

const { stdin, stdout, stderr, env } = process;

process.exitCode = await runConformance({
  words: process.argv.slice(2),
  input: stdin,
  print: (line) => void stdout.write(`${line}\n`),
  complain: (line) => void stderr.write(`${line}\n`),
  hasColours: stdout.isTTY && env['NO_COLOR'] === undefined,
  environment: env,
});
