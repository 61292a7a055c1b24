import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PASSWORD, send, type TestApplication, TestService } from '../support/index.js';
import { ClientFolder } from './generated-clients/client-folder.js';
import { HOME } from './program.js';

jest.setTimeout(300_000);

const PROGRAMS = join(__dirname, 'generated-clients');
/** Where the Python programs are. */
const PYTHON = resolve(HOME, 'generated-clients', 'bin');
const BIN = join(process.cwd(), 'node_modules', '.bin');
const TYPESCRIPT = join(process.cwd(), 'node_modules', 'typescript-7');
/** More than two pages of each sort. */
const EACH = 250;

interface Harvest {
  updates: string[];
  changes: [told: string, id: string][];
}

let service: TestService;
let app: TestApplication;
let folder: ClientFolder;
let document: string;
let expected: Harvest;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.filter('product', 'bikes', { 'data.category': 'bikes' });
  const category = (index: number) => ['bikes', 'cars', 'gone'][index % 3];
  const ids = (await app.products(3 * EACH, (index) => ({ data: { category: category(index) } }))).map(
    ({ id }) => id as string,
  );
  const of = (which: string) => ids.filter((_id, index) => category(index) === which);
  await service.watcher.caughtUp();
  await service.db.collection('products').deleteMany({ ...app.tenant, 'data.category': 'gone' });
  await service.watcher.caughtUp();
  expected = {
    updates: ids.filter((_id, index) => category(index) !== 'gone'),
    changes: [
      ...of('bikes').map((id): [string, string] => ['upsert', id]),
      ...of('cars').map((id): [string, string] => ['left', id]),
      ...of('gone').map((id): [string, string] => ['gone', id]),
    ].sort(byId),
  };
  document = (await send(`${service.url}/openapi.json`, 'GET', {})).text;
});

beforeEach(() => {
  folder = ClientFolder.new();
  folder.write('openapi.json', document);
});
afterEach(() => folder.clear());

const login = () => `${app.user('read')}:${PASSWORD}`;
const program = (name: string) => readFileSync(join(PROGRAMS, name), 'utf8');

function byId([, one]: [string, string], [, other]: [string, string]): number {
  return one < other ? -1 : 1;
}

function expectHarvest(printed: string): void {
  const { updates, changes } = JSON.parse(printed) as Harvest;
  expect(updates).toEqual(expected.updates);
  expect(changes.sort(byId)).toEqual(expected.changes);
}

it('the client that @hey-api/openapi-ts makes compiles with --strict, and harvests updates and changes', async () => {
  const compilerOptions = {
    ...{ strict: true, target: 'es2023', module: 'nodenext', outDir: 'built' },
    types: ['node'],
  };
  folder.write('package.json', '{ "type": "module" }');
  folder.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  folder.write('openapi-ts.config.mjs', program('openapi-ts.config.mjs'));
  folder.write('harvest.ts', program('harvest.ts.txt'));
  await folder.run(join(BIN, 'openapi-ts'), '--file', 'openapi-ts.config.mjs');
  await folder.run(process.execPath, join(TYPESCRIPT, 'bin', 'tsc'), '-p', '.');
  expectHarvest(
    await folder.run(
      process.execPath,
      'built/harvest.js',
      service.url,
      login(),
      app.organizationid,
      app.appid,
    ),
  );
});

it('the client that openapi-python-client makes is clean to mypy, and harvests updates and changes', async () => {
  folder.write('harvest.py', program('harvest.py'));
  // What Ruff would make of the client, mypy refuses.
  folder.write('config.json', JSON.stringify({ post_hooks: [] }));
  const made = await folder.run(
    join(PYTHON, 'openapi-python-client'),
    ...['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'tidemark_client'],
    ...['--config', 'config.json', '--fail-on-warning'],
  );
  expect(made).not.toMatch(/warning|error/i);
  await folder.run(join(PYTHON, 'mypy'), '--strict', 'harvest.py', 'tidemark_client');
  expectHarvest(
    await folder.run(
      join(PYTHON, 'python'),
      ...['harvest.py', service.url, login(), app.organizationid, app.appid],
    ),
  );
});
