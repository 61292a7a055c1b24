/**
 * Runs the contract tests with a value in a field of every record that all services hide. No answer and no line of the log may
 * have it. What the tests themselves say does not count: many of them fail, because records are not as they made them.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const canary = 'canary-of-the-suite-3f9a';
/** Fewer answers or lines mean that nothing was looked at. */
const least = 1000;
const leastLines = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'tidemark-canaries-'));
const file = join(folder, 'searched');
writeFileSync(file, '');
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'contract', '--maxWorkers=4'];
const child = spawn(process.execPath, [...jest, '--workerIdleMemoryLimit=1200MB', ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: {
    ...process.env,
    ...{ TIDEMARK_TEST_BUILT: '1', TIDEMARK_TEST_CANARY: canary, TIDEMARK_TEST_SEARCHED: file },
  },
});
let lines = 0;
const wrong = [];
for await (const line of createInterface(child.stdout)) {
  if (!line.startsWith('{"level":')) continue;
  lines += 1;
  if (line.includes(canary)) wrong.push(`logged: ${line.slice(0, 300)}`);
}
const answers = readFileSync(file, 'utf8').split('\n').filter(Boolean);
rmSync(folder, { recursive: true });
wrong.push(...answers.filter((line) => line !== 'searched'));
for (const line of wrong) console.log(line);
console.log(
  `${answers.length} answers and ${lines} lines of logs were searched; ${wrong.length} have the value.`,
);
process.exitCode = wrong.length === 0 && answers.length >= least && lines >= leastLines ? 0 : 1;
