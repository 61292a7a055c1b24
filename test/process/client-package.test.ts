import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { json, Served } from '../unit/client/served.js';

const run = promisify(execFile);
const tool = (path: string) => resolve('node_modules', path);

const STAMP = '2026-11-20T10:00:00.000Z';
const upsert = { op: 'upsert', id: 'p1', type: 'product', createDate: STAMP, createdBy: 'erp' };
const PAGE = json({
  result: [
    { ...upsert, lastupdated: STAMP, data: {}, channels: [] },
    { op: 'delete', id: 'p2', lastupdated: STAMP, reason: 'gone' },
  ],
  ...{ to: STAMP, nextoffsetid: '', cursor: 'c1' },
});

/** How nobody can load a package of ES modules. */
const COMMONJS = ['node10', 'node16-cjs'];

let folder: string;
let archive: string;

/** The package as it would be published, in an empty folder. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-client-'));
  const pack = ['pack', '-w', 'tidemark-client', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  archive = join(folder, filename);
});
afterAll(() => rm(folder, { recursive: true }));

it('holds what a program loads, and nothing else', async () => {
  const { stdout } = await run('tar', ['-tzf', archive]);
  const others = stdout
    .trim()
    .split('\n')
    .filter((name) => !/^package\/dist\/[\w/.-]+(\.js|\.d\.ts)$/.test(name));
  expect(others.sort()).toEqual([
    'package/LICENSE',
    'package/README.md',
    'package/bin/tidemark-harvest.mjs',
    'package/package.json',
  ]);
});

it('publint finds nothing', async () => {
  const { stdout } = await run(process.execPath, [tool('publint/src/cli.js'), archive, '--strict']);
  expect(stdout).toContain('All good!');
});

it('its types are right for whoever imports it', async () => {
  const check = [
    tool('@arethetypeswrong/cli/dist/index.js'),
    archive,
    '--profile',
    'esm-only',
    '--format',
    'json',
  ];
  const { stdout } = await run(process.execPath, check);
  const { analysis } = JSON.parse(stdout) as {
    analysis: { types: object; problems: { resolutionKind: string }[] };
  };
  expect(analysis.types).toEqual({ kind: 'included' });
  expect(analysis.problems.filter(({ resolutionKind }) => !COMMONJS.includes(resolutionKind))).toEqual([]);
});

describe('installed in an empty folder, without a network', () => {
  beforeAll(async () => {
    await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder });
  });

  it('is alone there', async () => {
    const installed = await readdir(join(folder, 'node_modules'));
    expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['tidemark-client']);
  });

  it('the program of its README keeps a copy', async () => {
    const readme = await readFile('client/README.md', 'utf8');
    const program = /```js\n(.+?)```/s.exec(readme)?.[1];
    await writeFile(join(folder, 'program.js'), program!);
    const served = await Served.start(PAGE, json({ result: [], to: STAMP, nextoffsetid: '', cursor: 'c2' }));
    const env = { ...process.env, TIDEMARK_URL: served.url, USERNAME: 'ann', PASSWORD: 'secret' };
    for (const cursor of ['c1', 'c2']) {
      const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env });
      expect(stdout).toBe('1 products\n');
      const copy = JSON.parse(await readFile(join(folder, 'copy.json'), 'utf8')) as object;
      expect(copy).toMatchObject({ cursor, copy: [['p1', { id: 'p1' }]] });
    }
    expect(served.paths).toEqual([
      '/demo/shop/api/v1/product/default/changes',
      '/demo/shop/api/v1/product/default/changes?cursor=c1',
    ]);
    await served.stop();
  });

  it('a program in strict TypeScript compiles with it, and what is wrong does not', async () => {
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
      ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [], skipLibCheck: false },
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
    await writeFile(join(folder, 'typed.ts'), TYPED);
    await run(process.execPath, [tool('typescript/bin/tsc'), '-p', folder]);
  });
});

/** Each `@ts-expect-error` is an error where the line below it is right. */
const TYPED = `
import { ConnectionError, ProblemError, Tidemark, type ProblemSlug } from 'tidemark-client';

const tidemark = new Tidemark({ url: 'http://localhost', org: 'a', app: 'b', username: 'c', password: 'd' });
const { signal } = new AbortController();

export async function harvest(cursor?: string): Promise<string | undefined> {
  let last = cursor;
  for await (const page of tidemark.changes('product', 'default', { cursor: last, signal }).pages()) {
    for (const item of page.result) {
      if (item.op === 'upsert') item.data satisfies { [key: string]: unknown };
      else item.reason satisfies 'left' | 'gone';
    }
    last = page.cursor;
  }
  for await (const { lastUpdated } of tidemark.harddeletes('member', { to: new Date() })) lastUpdated.slice();
  for await (const { offset } of tidemark.events('member', { signal })) offset.slice();
  return last;
}

export async function write(): Promise<ProblemSlug | undefined> {
  try {
    const { member, etag } = await tidemark.member.create({ accountnumber: '1', email: 'a@b' });
    await tidemark.member.patchAddress(member.id, { city: null }, { ifMatch: etag });
  } catch (error) {
    if (error instanceof ProblemError) return error.slug;
    if (!(error instanceof ConnectionError)) throw error;
  }
  return undefined;
}

declare module 'tidemark-client' {
  interface Kinds {
    order: true;
  }
}
void tidemark.max('order');

// @ts-expect-error
void tidemark.max('products');
// @ts-expect-error
void tidemark.member.create({ accountnumber: '1' });
// @ts-expect-error
void tidemark.changes('product', 'default', { deletes: 'keep' });
`;
