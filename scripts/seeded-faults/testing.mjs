/** Runs some test files of a copy with Jest, and tells whether a test of them failed. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';

/** The projects whose tests need a replica set. */
const ON_MONGODB = new Set(['contract', 'browser', 'connectors']);
const REPORTER = 'scripts/seeded-faults/first-failure.mjs';
/** What Jest prints is shown only where it could not run at all. */
const MOST_PRINTED = 4000;

let running;

/** Ends what runs now, with all that it has started. */
export function endTests() {
  try {
    if (running !== undefined) process.kill(-running.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

export function needsMongodb(tests) {
  return tests.some((test) => ON_MONGODB.has(projectOf(test)));
}

/** The Jest project of a test file, with which its name begins. */
export function projectOf(test) {
  return test.slice(0, test.indexOf('/'));
}

/**
 * What running test files, such as `unit/platform/common/dates`, came to: `passed`, `failed` with the first test that failed,
 * `broken` where a file could not be run, or `hung` where it had not ended in time. Nothing is run behind a failure.
 */
export async function runTests(copy, tests, { uri, limitMs, workers = 1 }) {
  let ran = 0;
  for (const project of new Set(tests.map(projectOf))) {
    const files = tests.filter((test) => projectOf(test) === project);
    const outcome = await runProject(copy, project, files, { uri, limitMs, workers });
    if (outcome.is !== 'passed') return outcome;
    ran += outcome.ran;
  }
  return { is: 'passed', ran };
}

async function runProject(copy, project, files, { uri, limitMs, workers }) {
  const [report, failure] = ['report', 'failure'].map((name) => join(copy, '.cache', `${name}.json`));
  for (const path of [report, failure]) rmSync(path, { force: true });
  const jest = [
    ...['node_modules/jest/bin/jest.js', '--selectProjects', project, '--runTestsByPath'],
    ...['--json', `--outputFile=${report}`, '--reporters=default', `--reporters=${join(copy, REPORTER)}`],
    ...['--forceExit', '--silent', '--ci', `--cacheDirectory=${join(copy, '.cache', 'jest')}`],
    ...(workers > 1 && files.length > 1 ? [`--maxWorkers=${workers}`] : ['--runInBand']),
    ...files.map((file) => `test/${file}.test.ts`),
  ];
  const env = {
    ...process.env,
    ...{ TIDEMARK_TEST_BUILT: '1', SEEDED_FAULTS_FAILURE: failure },
    ...(uri && { TIDEMARK_TEST_MONGODB_URI: uri }),
  };
  const { isLate, printed } = await ended(jest, { cwd: copy, env, limitMs });
  if (isLate) return { is: 'hung' };
  const failed = read(failure);
  if (failed !== undefined)
    return { is: 'failed', file: nameOf(copy, failed.path), test: failed.fullName, said: failed.said };
  return outcomeOf(copy, read(report), printed);
}

function ended(jest, { cwd, env, limitMs }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, jest, {
      ...{ cwd, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
    });
    running = child;
    let isLate = false;
    let printed = '';
    child.stderr.on('data', (piece) => (printed = (printed + piece).slice(-MOST_PRINTED)));
    const late = setTimeout(() => {
      isLate = true;
      endTests();
    }, limitMs);
    child.once('exit', () => {
      clearTimeout(late);
      endTests();
      running = undefined;
      child.stderr.destroy();
      resolve({ isLate, printed });
    });
  });
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Only a test that ran and failed says anything: a file that cannot be loaded does not. */
function outcomeOf(copy, report, printed) {
  if (report === undefined) return { is: 'broken', why: printed.trim().split('\n').at(-1) };
  const unloaded = report.testResults.find(({ status }) => status === 'failed');
  if (unloaded !== undefined)
    return { is: 'broken', why: `${nameOf(copy, unloaded.name)}: ${firstLine(unloaded.message)}` };
  const ran = report.numPassedTests;
  return ran === 0 ? { is: 'broken', why: 'no test ran' } : { is: 'passed', ran };
}

function nameOf(copy, path) {
  return relative(join(copy, 'test'), path).replace(/\.test\.ts$/, '');
}

function firstLine(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '') ?? '';
}
