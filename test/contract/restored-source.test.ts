import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { ConsumerNotes, type ConsumerReport } from '../../src/replication/feed/index.js';
import { type CopyPlace, sqliteCopies } from '../support/copies/index.js';
import {
  eventually,
  expectProblem,
  PASSWORD,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { type RestorableMongod, startRestorable } from '../support/own-mongod.js';
import { AdminConsole } from './admin-console.js';
import { type AnsweredChanges, changesOf } from './changes-feed.js';

const SERVICE = 'bikes';
const NEW = ['new1', 'new2', 'new3'];
const bike = (id: string) => ({ id, channels: ['web'], data: { category: 'bikes' } });

/** A server of the file's own: its files go back to an earlier copy. */
let mongod: RestorableMongod;
let service: TestService;
let app: TestApplication;
let root: string;
/** What was announced before the backup. */
let backedUp: Date;
/** What the consumers held before the database was restored. */
let max: Date;
let ended: AnsweredChanges;
let within: AnsweredChanges;

beforeAll(async () => {
  mongod = await startRestorable();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await app.filter('product', SERVICE, { 'data.category': 'bikes' });
  for (const id of ['old1', 'old2']) await app.product(bike(id));
  await caughtUp();
  backedUp = await app.max('product');
  await mongod.backUp();
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

/** Consumers read what the copy of the files lacks, each copy as well, and then the files are put back. */
async function restoreBehind(...copies: CopyPlace[]): Promise<void> {
  for (const id of NEW) await app.product(bike(id));
  const changed = { $set: { 'data.isLost': true }, $currentDate: { lastupdated: true as const } };
  await service.db.collection('products').updateOne({ ...app.tenant, id: 'old1' }, changed);
  await caughtUp();
  max = await app.max('product');
  within = await changesOf(app, `product/${SERVICE}`, { limit: 1 });
  ended = await changesOf(app, `product/${SERVICE}`, { to: max, from: '2020-01-01' });
  for (const copy of copies) {
    expect(await harvest(copy)).toMatchObject({ code: 0 });
    expect([...(await copy.records()).keys()]).toEqual(expect.arrayContaining(NEW));
  }
  await service.leave();
  await mongod.restore();
  service = await service.another();
  app = app.seenBy(service);
  await service.watcher.caughtUp();
}

const caughtUp = () => service.watcher.caughtUp();

async function harvest(place: CopyPlace, ...words: string[]) {
  const { organizationid, appid } = app;
  const named = ['--url', service.url, '--org', organizationid, '--app', appid, '--kind', 'product'];
  const env = { ...process.env, TIDEMARK_USERNAME: app.user('write'), TIDEMARK_PASSWORD: PASSWORD };
  const command = ['client/dist/command/main.js', ...words, ...named, '--service', SERVICE, '--to', place.to];
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], output, errors] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output, errors };
}

async function stateOf(username: string): Promise<string | undefined> {
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const { json } = await send(`${service.url}/admin/v1/consumers`, 'GET', { user: root });
  const { result } = json as { result: ConsumerReport[] };
  return result.find((one) => one.username === username && one.service === SERVICE)?.state;
}

/** Others are served, and what they write is beyond what the copy was told. */
async function othersGoOn(): Promise<void> {
  await app.product(bike('later'));
  await eventually(async () => (await app.max('product')) > max);
  await app.feed('product').page();
}

describe('a restored database', () => {
  let atOnce: CopyPlace;
  let again: CopyPlace;
  let late: CopyPlace;

  beforeAll(async () => {
    const copies = sqliteCopies();
    [atOnce, again, late] = [await copies.fresh(), await copies.fresh(), await copies.fresh()];
    await restoreBehind(atOnce, again, late);
  });
  afterAll(() => Promise.all([atOnce, again, late].map((copy) => copy.remove())));

  it('a `from` from ahead of the database is 410 on every feed, whatever its `to`', async () => {
    const from = max.toISOString();
    const paths = [
      ...[`product/${SERVICE}/updates`, `product/${SERVICE}/softdeletes`, 'product/harddeletes'],
      ...['productbychannel/web/updates', 'productbychannel/web/softdeletes', `product/${SERVICE}/changes`],
    ];
    for (const to of ['2020-01-01', from, '9999-01-01'])
      for (const path of paths)
        expectProblem(await app.get(path, { query: { from, to } }), 410, 'source-restored');
  });

  it('so is a cursor of `changes`, and a `nextoffsetid` of a window that has not ended', async () => {
    const path = `product/${SERVICE}/changes`;
    for (const query of [
      { cursor: ended.cursor },
      { cursor: within.cursor },
      { lastoffsetid: within.nextoffsetid },
    ])
      expectProblem(await app.get(path, { query }), 410, 'source-restored');
    const lines = await app.get(path, {
      query: { cursor: ended.cursor },
      headers: { Accept: 'application/x-ndjson' },
    });
    expectProblem(lines, 410, 'source-restored');
  });

  it('it says what to do, a consumer that begins again is served, and the consumer list says so', async () => {
    const user = app.user('read');
    const query = { from: max.toISOString(), to: '9999-01-01' };
    const refused = await app.get(`product/${SERVICE}/updates`, { query });
    expect(refused.json).toMatchObject({ title: 'The source was restored' });
    const { detail } = expectProblem(refused, 410, 'source-restored');
    expect(detail).toMatch(/^".*" lies ahead of .* Begin again without from or cursor/);
    expect(await stateOf(user)).toBe('must start over');
    const anew = await changesOf(app, `product/${SERVICE}`);
    expect(anew.result.map(({ id }) => id).sort()).toEqual(['old1', 'old2']);
    expect(await stateOf(user)).toBe('current');
    expect((await changesOf(app, `product/${SERVICE}`, { cursor: anew.cursor })).result).toEqual([]);
    expect(await stateOf(user)).toBe('current');
  });

  it('nor is one current whose `from` lies ahead of its `to`, since `max` has gone back', async () => {
    const to = await app.max('product');
    expect(to < max).toBe(true);
    const query = { from: max.toISOString(), to: to.toISOString() };
    expect((await app.get(`product/${SERVICE}/updates`, { query })).status).toBe(200);
    expect(await stateOf(app.user('read'))).toBe('must start over');
  });

  it('`tidemark-harvest` ends with 7 and one line that says what to do, in each of its forms', async () => {
    for (const words of [[], ['verify'], ['--json'], ['--follow']]) {
      const { code, errors } = await harvest(again, ...words);
      expect(code).toBe(7);
      expect(errors).toContain('restored from an earlier copy');
      expect(errors).toContain('--start-over');
      expect(errors.trim().split('\n')).toHaveLength(1);
    }
  });

  it('with --start-over the copy is equal', async () => {
    expect(await harvest(atOnce)).toMatchObject({ code: 7 });
    await expectStartedOver(atOnce, ['old1', 'old2']);
  });

  it('it does not forget where others go on, and sees it also where it comes after them', async () => {
    await othersGoOn();
    expect(await harvest(again)).toMatchObject({ code: 7 });
    expect(await harvest(late)).toMatchObject({ code: 7 });
    await expectStartedOver(late, ['later', 'old1', 'old2']);
  });

  async function expectStartedOver(copy: CopyPlace, left: string[]): Promise<void> {
    expect(await harvest(copy, '--start-over')).toMatchObject({ code: 0 });
    expect([...(await copy.records()).keys()].sort()).toEqual(left);
    expect(await harvest(copy, 'verify')).toMatchObject({ code: 0 });
  }
});

describe('the command `restored`', () => {
  const offset = (time: Date) => time.toISOString();
  const updatesFrom = (from: Date) =>
    app.get(`product/${SERVICE}/updates`, { query: { from: offset(from), to: offset(new Date()) } });
  const console = () => new AdminConsole(service.uri);

  beforeAll(() => restoreBehind());

  it('is refused where it would be wrong, and nothing is stored', async () => {
    const refusals: [string[], RegExp][] = [
      [[], /^An instance runs on this database/],
      [['--backup', '2999-01-01'], /^--backup "2999-01-01T00:00:00.000Z" lies in the future\.$/],
      [['--backup', 'today'], /^--backup "today" is not a date/],
    ];
    for (const [words, sentence] of refusals) {
      const { code, errors } = await console().run(['restored', ...words]);
      expect([code, errors]).toEqual([1, [expect.stringMatching(sentence)]]);
    }
    expect(await service.db.collection('tidemark.leases').findOne({})).not.toHaveProperty('restores');
  });

  it('tells consumers who come late, after others went on: what the lost database announced is 410', async () => {
    await othersGoOn();
    expect((await updatesFrom(max)).status).toBe(200);
    const ahead = { from: offset(max), to: offset(new Date(Date.now() + 3000)) };
    const waiting = app.get(`product/${SERVICE}/updates`, { query: ahead });
    const { code, output } = await console().run(['restored', '--backup', offset(backedUp)]);
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^Requests that continue from a time after .* and before .* are answered 410/),
    ]);
    expectProblem(await waiting, 410, 'source-restored');
    await eventually(async () => (await updatesFrom(max)).status === 410);
    const { detail } = expectProblem(await updatesFrom(max), 410, 'source-restored');
    expect(detail).toMatch(/^".*" was announced by a database that a backup has replaced\. Begin again/);
    for (const query of [{ cursor: ended.cursor }, { lastoffsetid: within.nextoffsetid }])
      expectProblem(await app.get(`product/${SERVICE}/changes`, { query }), 410, 'source-restored');
  });

  it('consumers who read no further than the backup go on, and so do those who begin again', async () => {
    expect((await updatesFrom(backedUp)).status).toBe(200);
    const anew = await changesOf(app, `product/${SERVICE}`);
    expect(anew.result.map(({ id }) => id).sort()).toEqual(['later', 'old1', 'old2']);
    expect((await changesOf(app, `product/${SERVICE}`, { cursor: anew.cursor })).result).toEqual([]);
    await caughtUp();
    const since = await app.max('product');
    expect((await updatesFrom(since)).status).toBe(200);
  });

  it('needs no time before the service is started: nothing was announced since', async () => {
    await service.leave();
    await mongod.restore();
    const marks = service.db.collection('tidemark.marks');
    await marks.insertOne({ fence: new Date('2999-01-01') });
    expect(await console().failure('restored')).toMatch(
      /^The latest time .*, 2999-01-01T00:00:00.000Z, is not past/,
    );
    await marks.deleteOne({ fence: new Date('2999-01-01') });
    expect(await console().failure('restored', { interrupted: AbortSignal.abort() })).toMatch(
      /^Interrupted: .* with --backup 2/,
    );
    const { output } = await console().run('restored');
    expect(output).toMatch(/^Requests that continue from a time after .* and before .* are answered 410/);
    service = await service.another();
    app = app.seenBy(service);
    await othersGoOn();
    expectProblem(await updatesFrom(max), 410, 'source-restored');
    expect((await updatesFrom(backedUp)).status).toBe(200);
  });
});
