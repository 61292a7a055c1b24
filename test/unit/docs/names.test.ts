import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const FENCED = /^```.*?^```$/gms;
const SPAN = /`([^`]+)`/g;
const FILE = /^[\w./-]+\.(?:ts|mjs|md)$/;
const FOLDER = /^[\w./-]+\/$/;
/** Not in the repository: what a build makes, and where the bench installs its peers. */
const MADE = ['dist/', 'site/', 'dist/bundled/', '.cache/bench/'];
const COLLECTION = /^tidemark\.[a-z]+$/;

const pages = readdirSync(join(ROOT, 'docs'), { recursive: true })
  .map((name) => join('docs', String(name)))
  .filter((path) => path.endsWith('.md'))
  .concat('README.md', 'CONTRIBUTING.md');

const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const folders = [...new Set(files.flatMap(above))];

/** All folders that a path lies in. */
function above(path: string): string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [folder, ...above(folder)];
}

/** Whether one of the paths is this one, or ends with it. */
const isAmong = (paths: string[], name: string) =>
  paths.some((path) => path === name || path.endsWith(`/${name}`));

/** The code spans of a page, outside of its blocks. */
const spansOf = (path: string) => [...read(path).replace(FENCED, '').matchAll(SPAN)].map(([, span]) => span!);

const spans = pages.flatMap((page) => spansOf(page).map((span) => ({ page, span })));
const told = (pattern: RegExp, isThere: (span: string) => boolean) =>
  spans
    .filter(({ span }) => pattern.test(span) && !isThere(span))
    .map(({ page, span }) => `${page}: ${span}`);

describe('what the pages name is there', () => {
  it('files', () => {
    expect(told(FILE, (span) => isAmong(files, span))).toEqual([]);
  });

  it('folders', () => {
    expect(told(FOLDER, (span) => MADE.includes(span) || isAmong(folders, span.slice(0, -1)))).toEqual([]);
  });

  it('collections of the service, each of which the architecture tells about', () => {
    const sources = files.filter((path) => /^src\/.*\.ts$/.test(path)).map(read);
    const named = sources.flatMap((text) =>
      [...text.matchAll(/^(?:export )?const \w+ = '(tidemark\.[a-z]+)'/gm)].map(([, name]) => name!),
    );
    expect(named).toEqual([...new Set(named)]);
    expect(told(COLLECTION, (span) => named.includes(span))).toEqual([]);
    expect(named.filter((name) => !spansOf('docs/architecture.md').includes(name))).toEqual([]);
  });
});

it('the README has at most 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

it('the glossary is linked from where a reader begins', () => {
  for (const page of ['README.md', 'CONTRIBUTING.md']) expect(read(page)).toContain('(docs/glossary.md)');
});
