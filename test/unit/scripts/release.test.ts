import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const { dated, unreleased } = jest.requireActual<{
  dated: (changelog: string, version: string, date: string) => string;
  unreleased: (changelog: string) => string;
}>('../../../scripts/release/changelog.mjs');

interface Component {
  'bom-ref': string;
  scope: string;
  properties?: object[];
}

interface Bill {
  metadata: { component: object; lifecycles?: object[] };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const { billOf } = jest.requireActual<{
  billOf: (all: Bill, bundled: string[], more: { version: string; needed: string[] }) => Bill;
}>('../../../scripts/release/bill.mjs');

const ROOT = join(__dirname, '..', '..', '..');

describe('the changelog of a release', () => {
  const before =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n\n## [0.1.0] - 2026-01-02\n\n- Zero.\n';

  it('has a dated section of what was not released, and nothing is unreleased', () => {
    const after = dated(before, '0.2.0', '2026-03-04');
    expect(after).toBe(before.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n'));
    expect([unreleased(before), unreleased(after)]).toEqual(['### Added\n\n- One.', '']);
  });

  it('begins with the first release', () => {
    expect(dated('# Changelog\n\n## [Unreleased]\n\n- One.\n', '0.1.0', '2026-03-04')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-03-04\n\n- One.\n',
    );
  });

  it('of this repository has its section', () => {
    expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).toMatch(/^## \[Unreleased\]$/m);
  });
});

describe('the bill of materials', () => {
  const development = { properties: [{ name: 'cdx:npm:package:development', value: 'true' }] };
  const component = (reference: string): Component => ({
    ...{ 'bom-ref': reference, scope: 'optional', ...development },
  });
  const everything: Bill = {
    metadata: { component: { name: 'a-folder', type: 'library' } },
    components: ['inside@1', 'inside@2', 'jest@1', 'native@1', 'native-linux@1'].map(component),
    dependencies: [
      { ref: 'inside@1', dependsOn: ['inside@2', 'jest@1'] },
      { ref: 'native@1', dependsOn: ['native-linux@1'] },
    ],
  };
  const release = { version: '0.2.0', needed: ['native@1'] };

  it('names what bundles hold and what an installation adds, and none of the tools', () => {
    const { metadata, components, dependencies } = billOf(everything, ['inside@1'], release);
    expect(metadata.component).toEqual({ name: 'tidemark', type: 'application' });
    expect(components).toEqual(
      ['inside@1', 'native@1', 'native-linux@1'].map((name) => ({ 'bom-ref': name, scope: 'required' })),
    );
    expect(dependencies).toEqual([
      { ref: 'tidemark@0.2.0', dependsOn: ['inside@1', 'native-linux@1', 'native@1'] },
      { ref: 'inside@1', dependsOn: [] },
      { ref: 'native@1', dependsOn: ['native-linux@1'] },
    ]);
  });

  it('is not made where npm does not know a package', () => {
    expect(() => billOf(everything, ['inside@3'], release)).toThrow('npm sbom does not list inside@3.');
  });
});

describe('`npm run release -- VERSION`', () => {
  let folder: string;
  const files = [
    ...['package.json', 'package-lock.json', 'CHANGELOG.md', 'docs/operating.md', 'console/package.json'],
    'deploy/helm/tidemark/Chart.yaml',
    ...['client', 'conformance'].flatMap((name) => [`${name}/package.json`, `${name}/src/version.ts`]),
  ];
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
  const release = (...words: string[]) => {
    const script = join(ROOT, 'scripts', 'release.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], {
      ...{ cwd: folder, encoding: 'utf8' },
    });
    return { status, stdout, stderr };
  };
  const refused = (words: string[], sentence: string) =>
    expect(release(...words)).toEqual({ status: 1, stdout: '', stderr: `${sentence}\n` });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidemark-release-'));
    for (const file of files) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      cpSync(join(ROOT, file), join(folder, file));
    }
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- Something new.\n');
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'first');
    git('tag', 'v8.0.0');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('says with --dry-run what it would do, and does nothing', () => {
    const { status, stdout, stderr } = release('9.0.0', '--dry-run');
    expect([status, stderr]).toEqual([0, '']);
    for (const text of ['Version 9.0.0 instead of ', ...files, 'the tag v9.0.0', '- Something new.'])
      expect(stdout).toContain(text);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('refuses what is no version, is before the packages, or is released already', () => {
    const usage = 'Name the version, such as: npm run release -- 0.2.0 [--dry-run]';
    for (const words of [[], ['v9.0.0'], ['9.0'], ['9.0.0', 'now']]) refused(words, usage);
    refused(['0.0.1'], `0.0.1 is before ${versionOf()}, the version of the packages.`);
    refused(['8.0.0'], 'There is a tag v8.0.0 already.');
  });

  it('refuses a tree with changes, and one without anything new', () => {
    const changelog = join(folder, 'CHANGELOG.md');
    writeFileSync(changelog, '# Changelog\n\n## [Unreleased]\n');
    refused(['9.0.0'], 'There are changes that are not committed: a release is made of a commit.');
    git('commit', '--quiet', '--all', '--message', 'nothing new');
    refused(['9.0.0'], 'CHANGELOG.md has nothing below "## [Unreleased]".');
  });

  function versionOf(): string {
    return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  }
});
