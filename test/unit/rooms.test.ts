import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import tsc from 'typescript';
import { fileVariable, readSettings, settingTable } from '../../src/platform/config/index.js';

const ROOT = join(__dirname, '..', '..');
const { imported } = jest.requireActual<{ imported: (path: string, specifier: string) => string }>(
  '../../lint/room-of.mjs',
);
const { rooms } = jest.requireActual<{ rooms: string[] }>('../../rooms.mjs');

const EXPORTED_TYPE = /^export (?:abstract )?(?:class|interface|type) (\w+)/gm;

/** Another application, that the service is compared with, has names of its own. */
const APART = /^bench\/plain\//;

function typedFiles(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true }) as string[];
  return names
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => /\.m?[jt]s$/.test(path) && !APART.test(path));
}

/** A folder with the rules of the project, but for those that need types. */
let linted: string;
beforeAll(() => {
  linted = mkdtempSync(join(tmpdir(), 'tidemark-lint-'));
  const settings = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as object;
  writeFileSync(
    join(linted, '.oxlintrc.json'),
    JSON.stringify({ ...settings, options: { typeAware: false } }),
  );
  for (const name of ['lint', 'rooms.mjs']) cpSync(join(ROOT, name), join(linted, name), { recursive: true });
});
afterAll(() => rmSync(linted, { recursive: true }));

/** The rules of the project that a file with this code would break. */
function broken(filename: string, code: string): string[] {
  const path = join(linted, filename);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  const command = [join(ROOT, 'node_modules/oxlint/bin/oxlint'), '--format', 'json', path];
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: linted, encoding: 'utf8' });
  rmSync(path);
  if (!stdout.startsWith('{')) throw new Error(`oxlint: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { diagnostics: { code: string }[] }).diagnostics.map(
    ({ code: rule }) => rule,
  );
}
const importing = (path: string) => `import { x } from '${path}';\nexport const y = x;\n`;

describe('rooms: imports into another room, or into its inside, are lint errors', () => {
  it.each([
    ['a room above', 'src/member/new.ts', '../replication/feed/index.js'],
    ['its neighbour above', 'src/member/new.ts', '../health/index.js'],
    ['the rules from what is stored', 'src/replication/protocol/new.ts', '../store/plain.js'],
    ['the ground imports no room', 'src/platform/config/new.ts', '../common/index.js'],
    ['the inside of a room below', 'src/member/new.ts', '../auth/passwords.js'],
    ['the inside, from deep within', 'src/member/merge/new.ts', '../../record/item.js'],
    ['the feeds from the watcher', 'src/replication/watcher/new.ts', '../feed/index.js'],
    ['the inside of the watcher', 'src/replication/feed/new.ts', '../watcher/batches.js'],
    ['the inside of what is stored', 'src/replication/feed/new.ts', '../store/ledger.js'],
    ['the HTTP door, from the core that it opens', 'src/administration/new.ts', './http/index.js'],
    ['an entry', 'src/health/new.ts', '../main.entry.js'],
    ['the inside of a room, from an entry', 'src/new.ts', './auth/passwords.js'],
    [
      'the inside of a room, from a contract test',
      'test/contract/new.test.ts',
      '../../src/auth/passwords.js',
    ],
  ])('%s', (_name, file, path) => {
    expect(broken(file, importing(path))).toEqual(['tidemark(walls)']);
  });

  it.each([
    ['a room below', 'src/member/new.ts', '../auth/index.js'],
    ['its own inside', 'src/member/new.ts', './merge/merge.js'],
    ['its own inside, from deep within', 'src/member/merge/new.ts', '../bson-document.js'],
    ['what is stored, from the watcher', 'src/replication/watcher/new.ts', '../store/index.js'],
    ['a room below, through the door of what is pure', 'src/member/new.ts', '../http/pure.js'],
    ['a library', 'src/member/new.ts', 'mongoose'],
    ['a room, from an entry', 'src/new.ts', './auth/index.js'],
    [
      'the inside of a room, from its own unit tests',
      'test/unit/auth/new.test.ts',
      '../../../src/auth/passwords.js',
    ],
  ])('allowed: %s', (_name, file, path) => {
    expect(broken(file, importing(path))).toEqual([]);
  });

  it('every folder of src is a room', () => {
    const folders = (path: string) =>
      readdirSync(join(ROOT, path), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const found = folders('src').flatMap(({ name }) =>
      ['platform', 'replication'].includes(name)
        ? folders(`src/${name}`).map((inner) => `${name}/${inner.name}`)
        : [name],
    );
    expect(rooms).toEqual(expect.arrayContaining(found));
  });

  it('every room has a door', () => {
    expect(rooms.filter((room) => !existsSync(join(ROOT, 'src', room, 'index.ts')))).toEqual([]);
  });
});

describe('what is imported', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((name) => `src/${String(name).replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !path.includes('/assembly/'));
  const importsOf = (path: string) =>
    tsc
      .preProcessFile(readFileSync(join(ROOT, path), 'utf8'))
      .importedFiles.map(({ fileName }) => fileName)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => imported(path, specifier))
      .filter((target) => sources.includes(target));

  it('no file imports in a circle', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (path: string, way: string[]): void => {
      if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '));
      if (done.has(path) || way.includes(path)) return;
      for (const target of importsOf(path)) walk(target, [...way, path]);
      done.add(path);
    };
    for (const path of sources) walk(path, []);
    expect(circles).toEqual([]);
  });

  it('the name of a type stands for one thing in the whole repository', () => {
    const told = new Map<string, string[]>();
    for (const path of ['src', 'test', 'bench', 'lint', 'scripts', 'conformance/src'].flatMap(typedFiles))
      for (const [, name] of readFileSync(join(ROOT, path), 'utf8').matchAll(EXPORTED_TYPE))
        told.set(name!, [...(told.get(name!) ?? []), path]);
    expect([...told].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });
});

describe('a collection is named by the room that owns it', () => {
  it.each([
    ['a call', 'src/administration/cli/new.ts', "export const x = (db: any) => db.collection('ledger');\n"],
    ['a stage', 'src/replication/store/new.ts', "export const x = { $lookup: { from: 'moments' } };\n"],
  ])('%s with a text is a lint error', (_name, file, code) => {
    expect(broken(file, code)).toContain('tidemark(own-collections)');
  });

  it('but not in the file of its schema', () => {
    const code = "export const x = (db: any) => db.collection('tidemark.ledger');\n";
    expect(broken('src/replication/store/new.schema.ts', code)).not.toContain('tidemark(own-collections)');
  });
});

describe('the environment is read in `config` only', () => {
  const code = 'export const port = process.env.PORT;\n';

  it.each(['src/member/new.ts', 'src/replication/feed/new.ts', 'src/platform/database/new.ts'])(
    '%s',
    (file) => {
      expect(broken(file, code)).toContain('eslint(no-restricted-properties)');
    },
  );

  it('an entry may touch the process, but not its environment', () => {
    expect(broken('src/main.entry.ts', 'process.exit(0);\n')).toEqual([]);
    expect(broken('src/main.entry.ts', code)).toEqual(['eslint(no-restricted-properties)']);
    expect(broken('src/member/new.ts', 'process.exit(0);\n')).toEqual(['eslint(no-restricted-globals)']);
  });

  it('config may', () => {
    expect(broken('src/platform/config/new.ts', code)).toEqual([]);
  });
});

describe('`.env.example` lists all settings', () => {
  const text = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const settings = Object.values(settingTable);

  it('each once, in the order of the table, with a line above that says what it is', () => {
    const documented = /^# (.+\.)\n([A-Z_]+)=/gm;
    const names = settings.flatMap((one) => (one.isSecret === true ? [one.env, fileVariable(one)] : one.env));
    expect([...text.matchAll(documented)].map(([, , name]) => name)).toEqual(names);
    expect(text.match(/^[A-Z_]+=/gm)).toHaveLength(names.length);
  });

  it('each at its default', () => {
    expect(readSettings(parseEnv(text))).toEqual(readSettings({}));
    for (const { env, fallback, ...rule } of settings) {
      const [, value] = new RegExp(`^${env}=(.*)$`, 'm').exec(text) ?? [];
      if (rule.type === 'integer')
        expect([env, value]).toEqual([env, typeof fallback === 'number' ? String(fallback) : '']);
      if (rule.type === 'integer') expect(text).toContain(`${rule.min} to ${rule.max}`);
    }
  });
});
