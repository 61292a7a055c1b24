/**
 * `npm run test:quick`: the loop while writing. Format, lint, types and unit tests, beside one another, with a twentieth of the
 * random cases. What passed before and depends on no file that has changed since is left out; `--all` leaves out nothing.
 * What fails is shown whole. It ends with the line of `npm test`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const cache = '.cache/quick';
const report = join(cache, 'unit.json');
/** Its text is when the last run that passed began, in milliseconds since 1970. */
const passedAt = join(cache, 'passed');
/** Where a change concerns the tests that import it. */
const sources = ['src', 'client/src', 'conformance/src', 'console/src', 'lint', 'scripts', 'test'];
/** A change of these concerns every test. */
const settings = [
  'jest.config.mjs',
  'package.json',
  'package-lock.json',
  'rooms.mjs',
  'scripts/test-quick.mjs',
];
/** These read sources and documents as text. */
const ofTexts = [
  'test/unit/rooms.test.ts',
  'test/unit/light.test.ts',
  'test/unit/docs',
  'test/unit/deploy',
  'test/unit/scripts',
];
const tool = (path) => join('node_modules', path);

const steps = [
  ['Unit tests', tool('jest/bin/jest.js'), ...unitTests()],
  ['Lint', tool('oxlint/bin/oxlint')],
  ['Types', tool('typescript-7/bin/tsc'), '-p', 'tsconfig.json', '--noEmit', ...incremental()],
  ['Format', tool('oxfmt/bin/oxfmt'), '--check'],
];

mkdirSync(cache, { recursive: true });
rmSync(report, { force: true });
const begun = performance.now();
const began = Date.now();
const built = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' }).status === 0;
const failed = built ? await failures() : ['Build'];
const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = unitReport();
const broken = numFailedTests + numRuntimeErrorTestSuites;
const others = failed.filter((title) => title !== 'Unit tests' || broken === 0).length;
console.log(`${Math.round((performance.now() - begun) / 1000)} s`);
console.log(`${numPassedTests} passed, ${broken + others} failed`);
process.exitCode = failed.length === 0 && numPassedTests > 0 ? 0 : 1;
if (process.exitCode === 0) writeFileSync(passedAt, String(began));

/** The titles of what failed. */
async function failures() {
  const ended = await Promise.all(steps.map(([title, ...command]) => step(title, command)));
  return steps.map(([title]) => title).filter((_title, index) => !ended[index]);
}

function step(title, command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, {
      env: { ...process.env, TIDEMARK_TEST_QUICK: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.once('close', (code) => {
      console.log(code === 0 ? `${title}: well` : `\n== ${title}\n${output}`);
      resolve(code === 0);
    });
  });
}

function unitTests() {
  const jest = [
    '--selectProjects',
    'unit',
    '--maxWorkers=100%',
    '--silent',
    '--json',
    `--outputFile=${report}`,
  ];
  const changed = changedFiles();
  return changed === undefined
    ? jest
    : [...jest, '--findRelatedTests', ...ofTexts.flatMap(testsIn), ...changed];
}

/** Since the last run that passed; undefined where everything counts as changed. */
function changedFiles() {
  if (process.argv.includes('--all') || !existsSync(passedAt)) return undefined;
  const since = Number(readFileSync(passedAt, 'utf8'));
  const isChanged = (path) => statSync(path).isFile() && statSync(path).mtimeMs >= since;
  if (settings.some(isChanged)) return undefined;
  return sources
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter((path) => !/(^|[\\/])(node_modules|dist)[\\/]/.test(path) && isChanged(path));
}

function testsIn(place) {
  if (place.endsWith('.test.ts')) return [place];
  const names = readdirSync(place, { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  return names.map((name) => join(place, name));
}

function incremental() {
  return ['--incremental', '--tsBuildInfoFile', join(cache, 'types.tsbuildinfo')];
}

function unitReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}
