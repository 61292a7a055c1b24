/** One run of Jest over projects, and what came of it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { step } from './step.mjs';

const reporter = './test/support/pool/reporter.mjs';

/** Answers `{ passed, failures }`. A run that ends otherwise than by its tests, or in which none passed, has a failure. */
export async function jestRun({ title, projects, args = [], node = process.execPath, env = {}, ...how }) {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-report-'));
  const file = join(folder, 'report.json');
  const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', ...projects, `--reporters=${reporter}`];
  // What the tests start by the name `node` is of the same version.
  const PATH = [dirname(resolve(node)), process.env.PATH].join(delimiter);
  const settings = {
    ...how,
    env: {
      // The LTS line of Node compiles a module once for all processes of the run, some of whose paths are never seen again.
      ...{ NODE_COMPILE_CACHE: join(folder, 'compiled'), PATH, ...env },
      ...{ TIDEMARK_TEST_BUILT: '1', TIDEMARK_TEST_REPORT: file },
    },
  };
  const wrong = await step(settings, title, node, ...jest, ...args);
  const { passed, failures } = reportIn(file);
  rmSync(folder, { recursive: true, maxRetries: 5 });
  if (failures.length === 0 && (wrong !== '' || passed === 0))
    failures.push(`${title}: ${wrong || 'no test ran'}`);
  return { passed, failures };
}

function reportIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failures: [] };
  }
}
