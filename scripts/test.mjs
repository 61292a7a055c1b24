/**
 * `npm test`: everything that must hold, in order. It stops at the first check that fails, runs every test whatever the
 * others gave, and ends with one line that counts the tests of all runs.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { installChromium } from './chromium.mjs';
import { installConnectors } from './connectors.mjs';
import { failedTests } from './failed-tests.mjs';
import { onOlderMongod } from './older-mongod.mjs';
import { installPostgres } from './postgres.mjs';
import { installPromtool } from './promtool.mjs';
import { step, took } from './step.mjs';
import { installZsh } from './zsh.mjs';

/** The current LTS line; the package `node` brings it as `node_modules/.bin/node`. */
const ltsVersion = '26.10.0';
const ltsHome = join('.cache', 'node-lts');
const ltsNode = join(ltsHome, 'node_modules', '.bin', 'node');

/**
 * Unit tests of what Node itself has a part in: buffers, WebAssembly, dates, cryptography, files, sockets and processes. The
 * other ones are about plain functions.
 */
const ofNode =
  'unit/(admin|auth|client|common|config|database|embedded|http|listen|observability|record|shutdown|replication/feed)';

/** Each run has an end: more than twice what it takes on two cores. */
const runMs = 25 * 60_000;
const contractMs = 40 * 60_000;

/** A test file for each core at a time. */
const onEachCore = ['--maxWorkers=100%'];
/**
 * Contract tests wait for half of their time, so that a machine of two cores takes four at a time; each worker has a mongod
 * of its own. A worker keeps something of each file that it has run, and is replaced when that is too much.
 */
const fourAtATime = ['--maxWorkers=4', '--workerIdleMemoryLimit=1200MB'];
/** These start services of their own and measure or disturb them. */
const oneByOne = ['--runInBand'];

const tool = (path) => [process.execPath, join('node_modules', path)];

/** Two lists, side by side: each check of one is there for itself. */
const checks = [
  [['Lint', ...tool('eslint/bin/eslint.js'), '--max-warnings', '0', '.']],
  [
    ['Format', ...tool('prettier/bin/prettier.cjs'), '--check', '.'],
    ['Types', ...tool('typescript/bin/tsc'), '-p', 'tsconfig.json', '--noEmit'],
    ['Types of the console', ...tool('typescript/bin/tsc'), '-p', 'console/tsconfig.json'],
    ['Types of the client', ...tool('typescript/bin/tsc'), '-p', 'client/tsconfig.json', '--noEmit'],
    ['Build', process.execPath, 'scripts/build.mjs'],
  ],
];

installZsh();
installPostgres();

const runs = [
  { title: 'Unit tests', project: 'unit', node: process.execPath },
  {
    ...{ title: 'Contract tests', project: 'contract', node: process.execPath },
    ...{ args: fourAtATime, limitMs: contractMs },
  },
  ...(installChromium()
    ? [{ title: 'Browser tests', project: 'browser', node: process.execPath, args: onEachCore }]
    : []),
  ...onOlderMongod(fourAtATime),
];

/**
 * These wait for much of their time, or keep one core busy: so many at a time, the longest first. What they print is shown
 * when they end.
 */
const besideOneAnother = 2;
const longRuns = [
  { title: 'The commands of the documents', project: 'documents', node: process.execPath },
  { title: 'The bench in small', project: 'bench', node: process.execPath },
  { title: 'Faults', project: 'faults', node: process.execPath },
  {
    ...{ title: 'Connectors', project: 'connectors', node: process.execPath },
    ...{ args: onEachCore, before: installConnectors },
  },
  { title: 'Process tests', project: 'process', node: process.execPath },
  { title: 'Model of the protocol', project: 'model', node: process.execPath },
  {
    ...{ title: `Unit tests on Node ${ltsVersion}`, project: 'unit', node: ltsNode, before: installLts },
    ...{ args: [...onEachCore, '--testPathPatterns', ofNode], env: { TIDEMARK_TEST_QUICK: '1' } },
  },
  ...(installPromtool() ? [{ title: 'Metrics and alerts', project: 'metrics', node: process.execPath }] : []),
].map((run) => ({ args: oneByOne, ...run, isBeside: true }));

/** How many of the slowest files are told at the end. */
const slowestTold = 10;
const times = [];
const failures = [];

const hold = await Promise.all(checks.map(allHold));
const { passed, failed } = hold.every(Boolean)
  ? sumOf(await everyTest())
  : { passed: 0, failed: failures.length };
tellTimes();
tellFailures();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** The connectors are fetched beside the first tests: more than one of the long runs looks for them. */
async function everyTest() {
  const connectors = installConnectors();
  const counts = await allTests(runs, 1);
  await connectors;
  return [...counts, ...(await allTests(longRuns, besideOneAnother))];
}

async function allHold(steps) {
  for (const [title, ...command] of steps) {
    const wrong = await step({ isBeside: true }, title, ...command);
    if (wrong === '') continue;
    failures.push(`${title}: ${wrong}`);
    return false;
  }
  return true;
}

/** What each run of a list counts, so many of them at a time. */
async function allTests(list, atATime) {
  const results = await mkdtemp(join(tmpdir(), 'tidemark-results-'));
  const left = list.map((run, index) => [run, join(results, `${index}.json`)]);
  const counts = [];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) counts.push(await tests(...next));
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  await rm(results, { recursive: true });
  return counts;
}

function sumOf(counts) {
  const add = (sum, one) => ({ passed: sum.passed + one.passed, failed: sum.failed + one.failed });
  return counts.reduce(add, { passed: 0, failed: 0 });
}

/** One Jest project on one Node. A run that fails or finds no test counts at least one failure. */
async function tests(run, file) {
  const { title, project, node, before, env = {}, isBeside = false } = run;
  const { args = onEachCore, limitMs = runMs } = run;
  if (before !== undefined && !(await before())) {
    failures.push(`${title}: what it needs could not be installed.`);
    return { passed: 0, failed: 1 };
  }
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--selectProjects',
    project,
    '--forceExit',
    '--json',
    `--outputFile=${file}`,
    ...args,
  ];
  const settings = { env: { ...env, TIDEMARK_TEST_BUILT: '1' }, isBeside, limitMs };
  const wrong = await step(settings, title, node, ...jest);
  const report = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0, testResults = [] } = report;
  for (const { name, startTime, endTime } of testResults)
    times.push({ title, file: relative(process.cwd(), name), seconds: (endTime - startTime) / 1000 });
  const told = failedTests(title, report, process.cwd());
  if (told.length === 0 && (wrong !== '' || numPassedTests === 0))
    told.push(`${title}: ${wrong || 'no test ran'}`);
  failures.push(...told);
  return {
    passed: numPassedTests,
    failed: Math.max(numFailedTests + numRuntimeErrorTestSuites, told.length),
  };
}

/** Where the time goes: each run, and the slowest files of all. */
function tellTimes() {
  console.log('\n== Time');
  for (const [title, seconds] of took) console.log(`${String(Math.round(seconds)).padStart(6)} s  ${title}`);
  const slowest = times.sort((one, other) => other.seconds - one.seconds).slice(0, slowestTold);
  console.log('the slowest files:');
  for (const { seconds, file, title } of slowest)
    console.log(`${String(Math.round(seconds)).padStart(6)} s  ${file} (${title})`);
}

/** At the end, since logs are cut at their begin. */
function tellFailures() {
  if (failures.length > 0) console.log('\n== Failed');
  for (const failure of failures) console.log(failure);
}

async function installLts() {
  const installed = await readFile(join(ltsHome, 'node_modules', 'node', 'package.json'), 'utf8').catch(
    () => '{}',
  );
  if (JSON.parse(installed).version === ltsVersion) return true;
  const quiet = ['--no-audit', '--no-fund', '--loglevel', 'error'];
  const install = ['npm', 'install', ...quiet, '--prefix', ltsHome, `node@${ltsVersion}`];
  return (await step({}, `Node ${ltsVersion}`, ...install)) === '';
}
