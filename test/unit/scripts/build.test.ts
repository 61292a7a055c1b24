import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SENTENCE =
  'The service is not built, and packages that build it are not installed, as with NODE_ENV=production: ' +
  'run npm ci --include=dev, then npm run build.\n';
const SCRIPTS = join(__dirname, '..', '..', '..', 'scripts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-build-'));
  cpSync(SCRIPTS, join(folder, 'scripts'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the build says and how it ends, where these files are there. */
function build(...files: string[]): { said: string; status: number | null } {
  for (const file of files.map((name) => join(folder, name))) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
  }
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    ...{ cwd: folder, encoding: 'utf8' },
  });
  return { said: stdout + stderr, status };
}

describe('a build without the packages that it needs', () => {
  it.each([
    ['none of them', []],
    ['TypeScript alone', ['node_modules/typescript-7/bin/tsc']],
    ['AssemblyScript alone', ['node_modules/assemblyscript/bin/asc.js']],
  ])('says in one sentence what to do: %s', (_what, files) => {
    expect(build(...files)).toEqual({ said: SENTENCE, status: 1 });
  });

  it('leaves alone what was built before', () => {
    expect(build('dist/main.js', 'node_modules/typescript-7/bin/tsc')).toEqual({ said: '', status: 0 });
  });
});
