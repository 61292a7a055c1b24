import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';

interface Repository {
  files: string[];
  read: (path: string) => string;
}
interface Site {
  texts: Map<string, string>;
  copies: Map<string, string>;
}
const { siteOf } = jest.requireActual<{ siteOf: (repository: Repository) => Site }>(
  '../../../scripts/docs/site.mjs',
);

const ROOT = join(__dirname, '..', '..', '..');
const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const repository = {
  files: files.filter((path) => existsSync(join(ROOT, path))),
  read: (path: string) => readFileSync(join(ROOT, path), 'utf8'),
};
const site = siteOf(repository);

/** The repository with some text at the end of one page. */
const withMore = (page: string, text: string): Repository => ({
  ...repository,
  read: (path) => `${repository.read(path)}${path === page ? `\n${text}\n` : ''}`,
});

describe('the site of the pages', () => {
  it('has a page for each Markdown file of the repository', () => {
    const pages = repository.files.filter((path) => path.endsWith('.md'));
    const places = pages.map((path) => path.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html'));
    expect(places.filter((place) => !site.texts.has(place))).toEqual([]);
    expect(places).toContain('docs/decisions/index.html');
    expect([...site.copies.values()].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has links that lead to its own files and anchors only', () => {
    const lost = [...site.texts].flatMap(([place, html]) =>
      [...html.matchAll(/<[^>]* (?:href|src)="(?!https?:)([^"#]*)(?:#([^"]*))?"/g)]
        .map(([, target = '', anchor]) => ({
          ...{ place, anchor },
          target: target === '' ? place : posix.join(posix.dirname(place), target),
        }))
        .filter(({ target, anchor }) =>
          anchor === undefined
            ? !site.texts.has(target) && !site.copies.has(target)
            : !site.texts.get(target)?.includes(` id="${anchor}"`),
        ),
    );
    expect(lost).toEqual([]);
  });

  it('shows a linked source on a page of its own, as text', () => {
    expect(site.texts.get('examples/dlt/tidemark.py.html')).toContain('import dlt');
    expect(site.texts.get('docs/alerts.yml.html')).toContain('&quot;');
  });
});

describe('a link that leads nowhere fails the build, with the page and the link', () => {
  it.each([
    ['[x](contract.md#none)', 'docs/contract.md has no heading with the anchor #none'],
    ['[x](#none)', 'docs/tools.md has no heading with the anchor #none'],
    ['[x](none.md)', 'the repository has no file docs/none.md'],
    ['[x](../src/none.ts)', 'the repository has no file src/none.ts'],
    ['![x](pictures/none.png)', 'the repository has no file docs/pictures/none.png'],
    ['[x](../../elsewhere.md)', 'the repository has no file ../elsewhere.md'],
    ['[x](roles.js#none)', 'docs/roles.js is no page, so it has no anchors'],
    ['| a |\n| - |\n| [x](none.md) |', 'the repository has no file docs/none.md'],
    ['[x][y]\n\n[y]: none.md', 'the repository has no file docs/none.md'],
  ])('%j', (text, wrong) => {
    const href = /\((.+)\)/.exec(text)?.[1] ?? 'none.md';
    expect(() => siteOf(withMore('docs/tools.md', text))).toThrow(
      new Error(`docs/tools.md links to ${href}, but ${wrong}.`),
    );
  });

  it('but not one to a file, to an anchor of another page, or to another site', () => {
    const links = '[a](../src/app.ts) [b](contract.md#1-reading) [c](https://example.org/none)';
    const href = /id="(\w[^"]+)"><a/.exec(site.texts.get('docs/contract.html')!)![1]!;
    expect(() => siteOf(withMore('docs/tools.md', links.replace('1-reading', href)))).not.toThrow();
  });

  it('and so does a page of docs/ that the map does not list', () => {
    const more = {
      files: [...repository.files, 'docs/lost.md'],
      read: (path: string) => (path === 'docs/lost.md' ? '# Lost\n' : repository.read(path)),
    };
    expect(() => siteOf(more)).toThrow('docs/README.md does not list docs/lost.md');
  });
});

describe('npm run docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-docs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const docs = (...options: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/docs.mjs'), ...options], {
      cwd: folder,
      encoding: 'utf8',
    });

  it('exits with 1 for a broken link, and writes nothing', () => {
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
    mkdirSync(join(folder, 'docs'));
    writeFileSync(join(folder, 'README.md'), '# Home\n\n[x](none.md)\n');
    writeFileSync(join(folder, 'docs', 'README.md'), '# Pages\n\n## All\n\n- [Home](../README.md)\n');
    const { status, stderr } = docs();
    expect([status, stderr]).toEqual([
      1,
      'README.md links to none.md, but the repository has no file none.md.\n',
    ]);
    expect(existsSync(join(folder, 'site'))).toBe(false);
  });

  it('removes no folder that it did not write', () => {
    writeFileSync(join(folder, 'README.md'), '# Home\n');
    const { status, stderr } = docs('--out', 'docs');
    expect([status, stderr]).toEqual([
      1,
      '--out docs has other files, such as README.md: name a new folder, such as --out site.\n',
    ]);
    expect(existsSync(join(folder, 'docs', 'README.md'))).toBe(true);
    expect(docs('--out', '').stderr).toBe('--out is empty: name a folder, such as --out site.\n');
  });

  it('removes no file that others added to a build', () => {
    const built = join(folder, 'built');
    const build = () =>
      spawnSync(process.execPath, ['scripts/docs.mjs', '--out', built], { cwd: ROOT, encoding: 'utf8' });
    expect([build().status, build().status]).toEqual([0, 0]);
    mkdirSync(join(built, '.git'));
    writeFileSync(join(built, '.git', 'HEAD'), '');
    expect(build()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`such as ${join('.git', 'HEAD')}`),
    });
    expect(existsSync(join(built, '.git', 'HEAD'))).toBe(true);
  });
});
