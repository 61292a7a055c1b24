/**
 * `npm test`: everything that must hold. The first check that fails ends it; then every test runs, whatever the others gave.
 * It ends with one line that counts the tests of all runs.
 */
import { chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installChromium } from './chromium.mjs';
import { installConnectors } from './connectors.mjs';
import { jestRun } from './jest-run.mjs';
import { folderOfRun } from './leftovers.mjs';
import { installNode, ltsNode } from './lts-node.mjs';
import { installPostgres } from './postgres.mjs';
import { installPromtool } from './promtool.mjs';
import { atEnd, step } from './step.mjs';
import { installZsh } from './zsh.mjs';

/** Most test files wait for half of their time. */
const workers = 4;
/** A worker keeps something of each file that it has run; one that holds more is replaced. */
const workerMemory = '1200MB';
/** Milliseconds for a worker to exit: it writes what Node has compiled, and Jest's 500 are too short on a busy machine. */
const exitMs = 20_000;
/** A run that hangs ends: three times what one takes on two cores, since beside other work one has taken 42 minutes. */
const limitMs = 75 * 60_000;

/**
 * Tests of what Node itself has a part in (buffers, WebAssembly, dates, cryptography, files, sockets and processes) and of what
 * depends on the version of mongod: these run on the Node of this machine, where all others run on the LTS line of Node.
 */
const ofNode =
  '/test/(contract/|unit/(auth|client|platform/(common|config|http)|embedded|listen|shutdown|record|replication/transcode/(doubles|malformed|utf8|values)))';

/** What the run leaves in the folder for temporary files goes with it. */
const temporary = folderOfRun(tmpdir(), 'tidemark-run');
process.env.TMPDIR = temporary;
// PostgreSQL runs as another user.
chmodSync(temporary, 0o755);
atEnd(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 }));

const tool = (path) => [process.execPath, join('node_modules', path)];

const checks = [
  ['Format', ...tool('oxfmt/bin/oxfmt'), '--check'],
  ['Build', process.execPath, 'scripts/build.mjs'],
  ['Lint', ...tool('oxlint/bin/oxlint')],
  ['Types', ...tool('typescript-7/bin/tsc'), '-p', 'tsconfig.json', '--noEmit'],
  ['Types of the console', ...tool('typescript-7/bin/tsc'), '-p', 'console/tsconfig.json'],
];

const installed = installAll();
const failures = await failedCheck();
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

/** The first check that fails, if any: none is made after it. */
async function failedCheck() {
  for (const [title, ...command] of checks) {
    const wrong = await step({ isQuiet: true }, title, ...command);
    if (wrong !== '') return [`${title}: ${wrong}`];
  }
  return [];
}

function everyTest({ chromium, promtool, connectors, node }) {
  const missing = (what) => Promise.resolve({ passed: 0, failures: [`${what} could not be installed.`] });
  const projects = ['unit', 'contract', 'process', 'faults', 'model', 'bench', 'documents'];
  if (chromium) projects.push('browser');
  if (promtool) projects.push('metrics');
  if (connectors) projects.push('connectors');
  const pool = {
    title: `Tests on Node ${node ? ltsNode.version : process.versions.node}`,
    args: [
      `--maxWorkers=${workers}`,
      `--workerIdleMemoryLimit=${workerMemory}`,
      `--workerGracefulExitTimeout=${exitMs}`,
    ],
    ...(node && { node: ltsNode.path }),
  };
  const ofThisNode = {
    title: `Unit tests on Node ${process.versions.node}, and the contract on the oldest mongod`,
    args: ['--maxWorkers=1', '--testPathPatterns', ofNode],
    ...{ env: { TIDEMARK_TEST_QUICK: '1' }, isQuiet: true },
  };
  return Promise.all([
    jestRun({ ...pool, projects, limitMs }),
    jestRun({ ...ofThisNode, projects: ['unit', 'older'], limitMs }),
    ...(node ? [] : [missing(`Node ${ltsNode.version}`)]),
    ...(connectors ? [] : [missing('What the connectors need')]),
  ]);
}
