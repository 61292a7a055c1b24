import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Clone } from '../documents/clone.js';

jest.setTimeout(600_000);

const VERSION = '99.0.0';
const run = promisify(execFile);

let clone: Clone;
let said: string;
beforeAll(async () => {
  clone = Clone.make();
  await clone.output('git config user.name Ann && git config user.email ann@example.org');
  const changelog = clone
    .read('CHANGELOG.md')
    .replace('## [Unreleased]\n', '## [Unreleased]\n\n- Something new.\n');
  await writeFile(join(clone.directory, 'CHANGELOG.md'), changelog);
  await clone.output('git commit --quiet --all --message "docs: a change"');
  said = await clone.output(`npm run -s release -- ${VERSION}`);
});
afterAll(() => clone.remove());

const released = (name: string) => readFile(join(clone.directory, 'release', name));
const archives = ['tidemark', 'tidemark-client', 'tidemark-conformance'].map(
  (name) => `${name}-${VERSION}.tgz`,
);

describe('A release', () => {
  it('is a commit with a tag, and a changelog with its date', async () => {
    expect(said).toContain(`Committed and tagged v${VERSION}.`);
    expect(await clone.output('git log -1 --format=%s')).toBe(`chore(release): ${VERSION}`);
    expect(await clone.output('git describe')).toBe(`v${VERSION}`);
    expect(await clone.output('git status --porcelain')).toBe('');
    const today = new Date().toISOString().slice(0, 7);
    expect(clone.read('CHANGELOG.md')).toMatch(
      new RegExp(`^## \\[Unreleased\\]\n\n## \\[99\\.0\\.0\\] - ${today}-\\d\\d\n\n- Something new\\.$`, 'm'),
    );
    await clone.output('npm ls --package-lock-only --omit=dev');
  });

  it('has the archives, the pages, a bill of materials, and checksums', async () => {
    const names = await readdir(join(clone.directory, 'release'));
    const others = names.filter((name) => name !== 'SHA256SUMS').sort();
    const pages = `tidemark-docs-${VERSION}.tar.gz`;
    expect(others).toEqual([...archives, pages, `tidemark-${VERSION}.cdx.json`].sort());
    expect(await clone.output(`tar -tzf release/${pages}`)).toContain('/docs/operating.html');
    const sums = await Promise.all(
      others.map(
        async (name) =>
          `${createHash('sha256')
            .update(await released(name))
            .digest('hex')}  ${name}`,
      ),
    );
    expect((await released('SHA256SUMS')).toString().trim().split('\n')).toEqual(sums);
  });

  it('names in its bill of materials what is inside, what it needs, and no tools', async () => {
    const bill = JSON.parse((await released(`tidemark-${VERSION}.cdx.json`)).toString()) as {
      bomFormat: string;
      metadata: { component: object };
      components: { name: string; group?: string; hashes?: object[]; purl: string }[];
    };
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'tidemark', version: VERSION, purl: `pkg:npm/tidemark@${VERSION}` } },
    });
    const names = bill.components.map(({ purl }) =>
      decodeURIComponent(purl).replace(/^pkg:npm\/(.+)@.+$/, '$1'),
    );
    expect(names).toEqual(
      expect.arrayContaining(['mongoose', '@nestjs/core', 'react', '@node-rs/argon2', 'swagger-ui-dist']),
    );
    expect(names.filter((name) => /^(jest|oxlint|typescript|vite|rolldown|tidemark.*)$/.test(name))).toEqual(
      [],
    );
    expect(bill.components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
  });

  it('has the same archives again where only its files are asked for, as by a workflow', async () => {
    const sums = (await released('SHA256SUMS')).toString();
    await clone.output('npm run -s release -- --files');
    const of = (text: string) => text.split('\n').filter((line) => line.endsWith('.tgz'));
    expect(of((await released('SHA256SUMS')).toString())).toEqual(of(sums));
    expect(await clone.output('git status --porcelain')).toBe('');
  });

  it('runs, and tells the version and the commit of the tag', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidemark-released-'));
    await writeFile(join(folder, 'package.json'), '{"private": true}');
    const files = archives.map((name) => join(clone.directory, 'release', name));
    const options = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
    await run('npm', [...options, ...files], { cwd: folder });
    const commit = await clone.output('git rev-parse --short=12 HEAD');
    const tells = async (program: string) =>
      (await run('npx', [program, '--version'], { cwd: folder })).stdout;
    expect(await tells('tidemark')).toBe(`${VERSION} (commit ${commit}, Node ${process.version})\n`);
    expect(await tells('tidemark-harvest')).toBe(`${VERSION}\n`);
    expect(await tells('tidemark-conformance')).toBe(`${VERSION}\n`);
    await rm(folder, { recursive: true });
  });
});
