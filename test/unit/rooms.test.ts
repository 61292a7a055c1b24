import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Linter } from 'eslint';
import ts from 'typescript-eslint';
import { readSettings, settingTable } from '../../src/config/index.js';

const ROOT = join(__dirname, '..', '..');
const { default: walls } = jest.requireActual<{ default: Linter.Config[] }>('../../eslint.config.mjs');
const { rooms } = jest.requireActual<{ rooms: Record<string, string[]> }>('../../rooms.mjs');

/** The rules that need no types are enough for walls, and files that are not there have no types. */
const withoutTypes = { files: ['**/*.ts'], ...ts.configs.disableTypeChecked } as Linter.Config;
const projectless: Linter.Config = {
  files: ['**/*.ts'],
  languageOptions: { parserOptions: { projectService: false } },
};

/** The rules of the project that a file with this code would break. */
function broken(filename: string, code: string): string[] {
  const messages = new Linter({ cwd: ROOT }).verify(code, [...walls, withoutTypes, projectless], {
    filename,
  });
  return messages.filter(({ severity }) => severity === 2).map(({ ruleId, message }) => ruleId ?? message);
}
const importing = (path: string) => `import { x } from '${path}';\nexport const y = x;\n`;

describe('rooms: imports into another room, or into its inside, are lint errors', () => {
  it.each([
    ['a room it does not know', 'src/member/new.ts', '../replication/feed/index.js'],
    ['its neighbour', 'src/member/new.ts', '../product/index.js'],
    ['a room above', 'src/auth/new.ts', '../application/index.js'],
    ['the ground knows nobody', 'src/config/new.ts', '../common/index.js'],
    ['the inside of a room it knows', 'src/member/new.ts', '../auth/passwords.js'],
    ['the inside, from deep within', 'src/member/merge/new.ts', '../../record/item.js'],
    ['the feeds from the watcher', 'src/replication/watcher/new.ts', '../feed/index.js'],
    ['the watcher from the feeds', 'src/replication/feed/new.ts', '../watcher/index.js'],
    ['the inside of the ledger', 'src/replication/feed/new.ts', '../ledger/ledger.js'],
    ['an entry', 'src/health/new.ts', '../main.js'],
    ['the inside of a room, from an entry', 'src/new.ts', './auth/passwords.js'],
    [
      'the inside of a room, from a contract test',
      'test/contract/new.test.ts',
      '../../src/auth/passwords.js',
    ],
  ])('%s', (_name, file, path) => {
    expect(broken(file, importing(path))).toEqual(['no-restricted-imports']);
  });

  it.each([
    ['a room it knows', 'src/member/new.ts', '../auth/index.js'],
    ['its own inside', 'src/member/new.ts', './merge/merge.js'],
    ['its own inside, from deep within', 'src/member/merge/new.ts', '../bson-document.js'],
    ['the ledger from the watcher', 'src/replication/watcher/new.ts', '../ledger/index.js'],
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
      name === 'replication'
        ? folders('src/replication').map((inner) => `replication/${inner.name}`)
        : [name],
    );
    expect(Object.keys(rooms)).toEqual(expect.arrayContaining(found));
  });

  it('no two rooms know each other', () => {
    const mutual = Object.entries(rooms).flatMap(([room, known]) =>
      known.filter((other) => rooms[other]?.includes(room)).map((other) => `${room} and ${other}`),
    );
    expect(mutual).toEqual([]);
  });
});

describe('the environment is read in `config` only', () => {
  const code = 'export const port = process.env.PORT;\n';

  it.each(['src/member/new.ts', 'src/replication/feed/new.ts', 'src/database/new.ts'])('%s', (file) => {
    expect(broken(file, code)).toContain('no-restricted-properties');
  });

  it('an entry may touch the process, but not its environment', () => {
    expect(broken('src/main.ts', 'process.exit(0);\n')).toEqual([]);
    expect(broken('src/main.ts', code)).toEqual(['no-restricted-properties']);
    expect(broken('src/member/new.ts', 'process.exit(0);\n')).toEqual(['no-restricted-globals']);
  });

  it('config may', () => {
    expect(broken('src/config/new.ts', code)).toEqual([]);
  });
});

describe('`.env.example` lists all settings', () => {
  const text = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const settings = Object.values(settingTable);

  it('each once, in the order of the table, with a line above that says what it is', () => {
    const documented = /^# (.+\.)\n([A-Z_]+)=/gm;
    expect([...text.matchAll(documented)].map(([, , name]) => name)).toEqual(settings.map(({ env }) => env));
    expect(text.match(/^[A-Z_]+=/gm)).toHaveLength(settings.length);
  });

  it('each at its default', () => {
    expect(readSettings(parseEnv(text))).toEqual(readSettings({}));
    for (const { env, fallback, ...rule } of settings) {
      const [, value] = new RegExp(`^${env}=(.*)$`, 'm').exec(text) ?? [];
      if (rule.type === 'integer') expect([env, value]).toEqual([env, String(fallback)]);
      if (rule.type === 'integer') expect(text).toContain(`${rule.min} to ${rule.max}`);
    }
  });
});
