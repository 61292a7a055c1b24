/**
 * `npm test`: everything that must hold. The first check that fails ends it; then every test runs, whatever the others gave.
 * It ends with one line that counts the tests of all runs.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installChromium } from './chromium.mjs';
import { installConnectors } from './connectors.mjs';
import { jestRun } from './jest-run.mjs';
import { installNode, otherNode } from './other-node.mjs';
import { installPostgres } from './postgres.mjs';
import { installPromtool } from './promtool.mjs';
import { atEnd, step } from './step.mjs';
import { installZsh } from './zsh.mjs';

/** Most test files wait for half of their time. */
const workers = 4;
/** A worker keeps something of each file that it has run; one that holds more is replaced. */
const workerMemory = '1200MB';
/** Several times what they take on two cores. */
const limitMs = 45 * 60_000;

/** Unit tests of what Node itself has a part in: buffers, WebAssembly, dates, cryptography, files, sockets and processes. */
const ofNode =
  'unit/(auth|client|common|config|embedded|listen|shutdown|record|replication/feed/transcode/(doubles|malformed|utf8|values))';

/** What the run leaves in the folder for temporary files goes with it. */
const temporary = mkdtempSync(join(tmpdir(), 'tidemark-run-'));
process.env.TMPDIR = temporary;
// PostgreSQL runs as another user.
chmodSync(temporary, 0o755);
atEnd(() => rmSync(temporary, { recursive: true, force: true }));

const tool = (path) => [process.execPath, join('node_modules', path)];

/** Two lists, side by side. */
const checks = [
  [['Lint', ...tool('eslint/bin/eslint.js'), '--max-warnings', '0', '.']],
  [
    ['Build', process.execPath, 'scripts/build.mjs'],
    ['Format', ...tool('prettier/bin/prettier.cjs'), '--check', '.'],
    ['Types', ...tool('typescript/bin/tsc'), '-p', 'tsconfig.json', '--noEmit'],
    ['Types of the console', ...tool('typescript/bin/tsc'), '-p', 'console/tsconfig.json'],
    ['Types of the client', ...tool('typescript/bin/tsc'), '-p', 'client/tsconfig.json', '--noEmit'],
  ],
];

const installed = installAll();
const failures = (await Promise.all(checks.map(allHold))).flat();
const runs = failures.length === 0 ? await everyTest(await installed) : [];
failures.push(...runs.flatMap((run) => run.failures));
if (failures.length > 0) console.log('\n== Failed');
for (const failure of failures) console.log(failure);
const passed = runs.reduce((sum, run) => sum + run.passed, 0);
const failed = failures.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** What the tests need of the system, fetched while the checks run. Answers which of it is there. */
async function installAll() {
  const [chromium, promtool, connectors, node] = await Promise.all([
    installChromium(),
    installPromtool(),
    installConnectors(),
    installNode(),
    installZsh(),
    installPostgres(),
  ]);
  return { chromium, promtool, connectors, node };
}

/** What is wrong, if anything: the first that fails of a list is the last. */
async function allHold(steps) {
  for (const [title, ...command] of steps) {
    const wrong = await step({ isQuiet: true }, title, ...command);
    if (wrong !== '') return [`${title}: ${wrong}`];
  }
  return [];
}

function everyTest({ chromium, promtool, connectors, node }) {
  const projects = ['unit', 'contract', 'older', 'process', 'faults', 'model', 'bench', 'documents'];
  if (chromium) projects.push('browser');
  if (promtool) projects.push('metrics');
  const pool = {
    title: 'Tests',
    projects,
    args: [`--maxWorkers=${workers}`, `--workerIdleMemoryLimit=${workerMemory}`],
  };
  const other = {
    ...{ title: `Unit tests on Node ${otherNode.version}`, projects: ['unit'], node: otherNode.path },
    ...{
      args: ['--maxWorkers=1', '--testPathPatterns', ofNode],
      env: { TIDEMARK_TEST_QUICK: '1' },
      isQuiet: true,
    },
  };
  const missing = (what) => Promise.resolve({ passed: 0, failures: [`${what} could not be installed.`] });
  if (connectors) projects.push('connectors');
  return Promise.all([
    jestRun({ ...pool, limitMs }),
    node ? jestRun({ ...other, limitMs }) : missing(`Node ${otherNode.version}`),
    ...(connectors ? [] : [missing('What the connectors need')]),
  ]);
}
