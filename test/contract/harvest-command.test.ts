import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import Database from 'libsql';
import { type CopyPlace, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { bike, BIKES, bikesIn, stampsIn } from './harvest-client.js';
import { beginHarvest, ended } from './harvest-program.js';

let service: TestService;
let app: TestApplication;
let place: CopyPlace;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
  await app.products(30, (n) => bike(`b${n}`));
  await service.watcher.caughtUp();
  place = await sqliteCopies().fresh();
});
afterEach(() => place.remove());

const begin = (words: string[], environment?: Record<string, string>) =>
  beginHarvest(app, words, environment);

type Ending = [
  name: string,
  words: string[],
  environment: Record<string, string>,
  code: number,
  line: RegExp,
];

const run = (words: string[], environment?: Record<string, string>, input?: string) =>
  ended(begin(words, environment), input);

describe('`tidemark-harvest`', () => {
  it('harvests, and goes on; for people and for machines', async () => {
    const first = await run(['--to', place.to]);
    expect(first).toMatchObject({ code: 0, errors: '' });
    expect(first.output).toMatch(/ holds .*\/product\/bikes up to 20.*Z: 30 written, 0 removed\.\n$/);
    await app.product(bike('later'));
    const second = await run(['--to', place.to, '--json']);
    expect(second).toMatchObject({ code: 0, errors: '' });
    expect(JSON.parse(second.output)).toMatchObject({ upserts: 1, deletes: 0, starts: 0, copy: place.to });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
  });

  it('writes NDJSON, and takes the copy and the password without an argument', async () => {
    const file = await ndjsonCopies().fresh();
    const environment = { TIDEMARK_TO: file.to, TIDEMARK_PASSWORD: '' };
    expect(await run(['--password-stdin'], environment, `${PASSWORD}\n`)).toMatchObject({ code: 0 });
    expect(await stampsIn(file)).toEqual(await bikesIn(app));
    await file.remove();
  });

  it.each<Ending>([
    ['0 for help', ['--help'], {}, 0, /^$/],
    [
      '2 for a command line that is not right',
      ['--to', 'copy.xml'],
      {},
      2,
      /is no kind of copy\. Give a file that ends in/,
    ],
    [
      '3 for a wrong password',
      ['--to', 'COPY'],
      { TIDEMARK_PASSWORD: 'x' },
      3,
      /^tidemark-harvest: The service answers 401 unauthorized: the user name or the password is wrong, or the credential is disabled or has expired\. Check TIDEMARK_USERNAME and TIDEMARK_PASSWORD, or --username and --password-stdin\.$/m,
    ],
    ['3 for an unknown service', ['--to', 'COPY', '--service', 'boats'], {}, 3, /404 unknown-service/],
    ...['sqlite', 'ndjson'].map((form): Ending => [
      `5 for a copy (${form}) that cannot be opened`,
      ['--to', `/nowhere/copy.${form}`],
      {},
      5,
      /\/nowhere\/copy\.\w+ cannot be opened: the folder \/nowhere does not exist\. Make it first\.$/m,
    ]),
    [
      '5 for a MongoDB whose address names no database',
      ['--to', 'mongodb://127.0.0.1:1/?replicaSet=rs0'],
      {},
      5,
      /mongodb:\/\/127\.0\.0\.1:1\/ cannot be opened: the address names no database\. Add one, such as mongodb:\/\/host\/copies\.$/m,
    ],
    [
      '2 for an option without a value',
      ['--table', '--to', 'COPY'],
      {},
      2,
      /--table has no value: "--to" begins like an option/,
    ],
    [
      '5 for a database that is away',
      ['--to', 'postgres://me:hidden@127.0.0.1:1/db'],
      {},
      5,
      / postgres:\/\/127\.0\.0\.1:1\/db cannot be opened: /,
    ],
  ])('exits with %s, and one line that says why', async (_name, words, environment, code, line) => {
    const named = words.map((word) => (word === 'COPY' ? place.to : word));
    const child = await run(named, environment);
    expect(child.code).toBe(code);
    expect(child.errors).toMatch(line);
    expect(child.errors.split('\n').length).toBeLessThanOrEqual(2);
    expect(child.errors).not.toContain('hidden');
  });

  it('exits with 5 for a copy that is a directory', async () => {
    const to = `${place.to}.sqlite`;
    await mkdir(to);
    expect(await run(['--to', to])).toMatchObject({
      code: 5,
      errors: `tidemark-harvest: ${to} cannot be opened: SQLite cannot open it: it is a directory, or its permissions do not allow it.\n`,
    });
  });

  it('a copy that fails while a first harvest counts is told like any other failure', async () => {
    const program = `
      import { harvestTask } from './client/dist/command/harvest-task.js';
      const fail = () => Promise.reject(new Error('The disk is gone.'));
      const tools = { store: { state: fail }, harvester: { harvest: fail }, progress: { isOnTerminal: true } };
      await harvestTask({ settings: {}, ...tools }).catch(({ message }) => console.log(message));
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
    expect(await ended(child)).toEqual({ code: 0, output: 'The disk is gone.\n', errors: '' });
  });

  it('follows until Ctrl-C', async () => {
    const child = begin(['--to', place.to, '--follow', '--json']);
    const lines = text(child.stdout!);
    await eventually(async () => (await stampsIn(place).catch(() => [])).length === 30);
    await app.product(bike('later'));
    await eventually(async () => (await place.records()).has('later'));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const told = (await lines)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { upserts: number });
    expect(told.map(({ upserts }) => upserts)).toEqual([30, 1]);
  });

  it('ends on SIGTERM to npx, whose shell does not pass it on, while the service is away', async () => {
    const words = ['--url', 'http://127.0.0.1:1', '--org', 'acme', '--app', 'shop', '--kind', 'product'];
    const child = spawn('npx', ['tidemark-harvest', ...words, '--to', place.to, '--follow'], {
      env: { ...process.env, TIDEMARK_USERNAME: 'ann', TIDEMARK_PASSWORD: PASSWORD },
      stdio: 'pipe',
    });
    await eventually(() => existsSync(place.to));
    child.kill('SIGTERM');
    // The program holds these ends as long as it runs.
    await Promise.all([text(child.stdout), text(child.stderr)]);
  });

  it('what the copy cannot hold is told once while it follows, and in the exit code at its end', async () => {
    await (await place.open()).close();
    const user = new Database(place.to);
    user.exec(
      "CREATE TRIGGER own BEFORE INSERT ON products WHEN new.id = 'b3' BEGIN SELECT RAISE(ABORT, 'not b3'); END",
    );
    const child = begin(['--to', place.to, '--follow', '--json']);
    const lines = text(child.stdout!);
    await eventually(async () => (await stampsIn(place)).length === 29);
    await app.product(bike('later'));
    await eventually(async () => (await place.records()).has('later'));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([6, null]);
    const told = (await lines)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { upserts: number; unfit?: { id: string; reason: string }[] });
    expect(told).toMatchObject([{ upserts: 30, unfit: [{ id: 'b3', reason: 'not b3' }] }, { upserts: 1 }]);
    expect(told[1]).not.toHaveProperty('unfit');
    const again = await run(['--to', place.to]);
    expect(again).toMatchObject({
      code: 6,
      output: expect.stringMatching(/\nb3: 20.*Z, not b3\n$/) as string,
    });
    user.exec('DROP TRIGGER own');
    user.close();
    expect(await run(['repair', '--to', place.to])).toMatchObject({ code: 0 });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
  });

  it('verify tells what differs and exits with 1; repair mends it', async () => {
    await run(['--to', place.to]);
    expect(await run(['verify', '--to', place.to])).toMatchObject({ code: 0 });
    const store = await place.open();
    await store.mend({ upserts: [], removed: ['b7'], state: (await store.state())! });
    await store.close();
    const { code, output } = await run(['verify', '--to', place.to]);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^b7: missing in the copy, 20.*Z in the service\nThe copy differs in 1 of 30 records/,
    );
    const repaired = await run(['repair', '--to', place.to, '--json']);
    expect(repaired.code).toBe(0);
    expect(JSON.parse(repaired.output)).toMatchObject({ isEqual: true, mended: [{ id: 'b7' }] });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
  });
});
