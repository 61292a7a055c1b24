/**
 * `npm run test:long`: the long forms of what `npm test` shows in small. Each part is independent; `--only NAME,NAME` runs some,
 * `--list` names them. It ends with one line that counts the tests of all parts.
 */
import { parseArgs } from 'node:util';
import { installChromium } from './chromium.mjs';
import { installConnectors } from './connectors.mjs';
import { installDeployTools, installImageTools } from './deploy-tools.mjs';
import { jestRun } from './jest-run.mjs';
import { installPostgres } from './postgres.mjs';
import { step } from './step.mjs';

const minutes = 60_000;
const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
const pool = ['--maxWorkers=4', '--workerIdleMemoryLimit=1200MB'];
const everything = ['unit', 'contract', 'process', 'faults', 'model', 'browser', 'connectors'];

/**
 * By name: what it does, how long it may take, and how. With TIDEMARK_TEST_LIMITS=real tests wait for the product's own limits of
 * time, which they lower in `npm test`.
 */
const parts = {
  node: {
    title: `Every test on Node ${process.version}`,
    limitMs: 60 * minutes,
    before: async () => (await installChromium()) && (await installConnectors()),
    jest: { projects: everything, args: pool, env: { TIDEMARK_TEST_LIMITS: 'real' } },
  },
  mongod: {
    title: 'The contract on the oldest mongod',
    limitMs: 30 * minutes,
    jest: { projects: ['contract'], args: pool, env: { TIDEMARK_TEST_MONGOD: '6.0.5' } },
  },
  role: {
    title: 'Every test on a real service, under the role of docs/roles.js',
    limitMs: 90 * minutes,
    before: async () => (await installChromium()) && (await installConnectors()),
    jest: {
      projects: ['contract', 'process', 'faults', 'browser', 'connectors'],
      args: pool,
      env: { TIDEMARK_TEST_ROLE: '1' },
    },
  },
  canaries: {
    title: 'A value in a hidden field of every record, in no answer and no log of the contract tests',
    limitMs: 60 * minutes,
    command: [process.execPath, 'scripts/test-canaries.mjs'],
  },
  faults: {
    title: `Faults: ${seeds.length} histories, and 60,000 records under load`,
    limitMs: 120 * minutes,
    jest: {
      ...{ projects: ['faults'], args: ['--runInBand'] },
      env: {
        ...{ FAULTS_SEEDS: seeds.join(','), FAULTS_OPERATIONS: '2000', FAULTS_RECORDS: '60000' },
        ...{
          FAULTS_RESTARTS: '10',
          TIDEMARK_TEST_LIMITS: 'real',
          FAULTS_CUTS: '200',
          HARVEST_KILLS: 'sqlite:1-20,ndjson:1-20,mongodb:1-10,postgres:1-10',
        },
      },
    },
  },
  upgrade: {
    title: 'Two versions side by side under faults, in both orders, then the older one alone',
    limitMs: 60 * minutes,
    jest: {
      ...{ projects: ['upgrade'], args: ['--runInBand'] },
      env: { FAULTS_SEEDS: '1,2,3,4', FAULTS_OPERATIONS: '300', TIDEMARK_TEST_ROLE: '1' },
    },
  },
  model: {
    title: 'The model: 100,000 schedules',
    limitMs: 120 * minutes,
    jest: { projects: ['model'], env: { TIDEMARK_MODEL: JSON.stringify({ schedules: 100_000 }) } },
  },
  connectors: {
    title: 'Connectors: 100,000 records',
    limitMs: 60 * minutes,
    before: installConnectors,
    jest: {
      ...{ projects: ['connectors'], args: ['--maxWorkers=2'] },
      env: { TIDEMARK_CONNECTORS_RECORDS: '100000' },
    },
  },
  release: {
    title: 'A release of a clone',
    limitMs: 20 * minutes,
    jest: { projects: ['release'] },
  },
  deploy: {
    title:
      'Deployment: its files, as the tools that read them judge them, the stack of Compose and reverse proxies',
    limitMs: 20 * minutes,
    before: installDeployTools,
    jest: {
      projects: ['deploy'],
      args: ['--testPathPatterns', 'deploy/(files|chart|stack|proxies|system-calls)'],
    },
  },
  image: {
    title: 'The image, built, started and asked',
    limitMs: 30 * minutes,
    before: installImageTools,
    jest: { projects: ['deploy'], args: ['--testPathPatterns', 'deploy/image'] },
  },
  'bench-small': {
    title: 'Every measure of the bench in small',
    limitMs: 30 * minutes,
    jest: { projects: ['bench'], env: { BENCH_MEASURES: 'all' } },
  },
  bench: {
    title: 'Every measure of the bench, 100,000 items',
    limitMs: 120 * minutes,
    command: [
      'npm',
      'run',
      '-s',
      'bench',
      '--',
      '--items',
      '100000',
      '--sizes',
      '10000',
      '--consumers',
      '10',
      '--rounds',
      '1',
      '--against',
      'plain',
    ],
  },
  'seeded-faults': {
    title: 'Seeded faults',
    limitMs: 60 * minutes,
    command: ['npm', 'run', '-s', 'test:seeded-faults'],
  },
};

const { values } = parseArgs({ options: { only: { type: 'string' }, list: { type: 'boolean' } } });
const names = values.only?.split(',') ?? Object.keys(parts);
const unknown = names.find((name) => !(name in parts));
if (unknown !== undefined) {
  console.error(`--only ${unknown}: choose from ${Object.keys(parts).join(',')}.`);
  process.exit(2);
}
if (values.list) {
  for (const name of names) console.log(`${name.padEnd(14)} ${parts[name].title}`);
  process.exit(0);
}

const results = [];
if ((await step({ isQuiet: true }, 'Build', process.execPath, 'scripts/build.mjs')) !== '') process.exit(1);
await installPostgres();
for (const name of names) results.push(await resultOf(parts[name]));
const failures = results.flatMap((result) => result.failures);
if (failures.length > 0) console.log('\n== Failed');
for (const failure of failures) console.log(failure);
const passed = results.reduce((sum, result) => sum + result.passed, 0);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** A command counts as one test. */
async function resultOf({ title, limitMs, before, jest, command }) {
  if (before !== undefined && !(await before()))
    return { passed: 0, failures: [`${title}: what it needs could not be installed.`] };
  if (jest !== undefined) return jestRun({ title, limitMs, ...jest });
  const wrong = await step({ limitMs }, title, ...command);
  return wrong === '' ? { passed: 1, failures: [] } : { passed: 0, failures: [`${title}: ${wrong}`] };
}
