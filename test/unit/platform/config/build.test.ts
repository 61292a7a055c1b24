import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIn, thisBuild, versionInWords } from '../../../../src/platform/config/pure.js';
import { VERSION } from '../../../support/build.js';

const { writeCommit } = jest.requireActual<{ writeCommit: (folder: string, named?: string) => void }>(
  '../../../../scripts/build-commit.mjs',
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-build-'));
  await writeFile(join(folder, 'package.json'), '{"version": "1.2.3"}');
});
afterEach(() => rm(folder, { recursive: true }));

const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();

describe('the version and the commit of a build', () => {
  it('are those of package.json and of the repository, which may have been changed since', async () => {
    git('init', '-q');
    await writeFile(join(folder, '.gitignore'), 'dist/');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('tag', 'v9');
    writeCommit(folder);
    const commit = git('rev-parse', '--short=12', 'HEAD');
    expect(buildIn(folder)).toEqual({ version: '1.2.3', commit, node: process.version });
    await writeFile(join(folder, 'package.json'), '{"version": "1.2.4"}');
    writeCommit(folder);
    expect(buildIn(folder)).toMatchObject({ version: '1.2.4', commit: `${commit}-dirty` });
  });

  it('outside a repository: the commit that the environment names, else unknown', async () => {
    expect(buildIn(folder).commit).toBe('unknown');
    writeCommit(folder, undefined);
    expect(buildIn(folder).commit).toBe('unknown');
    writeCommit(folder, 'abc');
    expect(buildIn(folder).commit).toBe('abc');
    await mkdir(join(folder, '.git'));
    writeCommit(folder, 'a .git that is no repository');
    expect(buildIn(folder).commit).toBe('a .git that is no repository');
  });

  it('of this program are in words', () => {
    expect(thisBuild().version).toBe(VERSION);
    expect(versionInWords({ version: '1.2.3', commit: 'abc', node: 'v24.1.0' })).toBe(
      '1.2.3 (commit abc, Node v24.1.0)',
    );
  });
});
