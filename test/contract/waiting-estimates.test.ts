import { mongo } from 'mongoose';
import type { Status } from '../../src/administration/index.js';
import type { Pace, WatchState } from '../../src/replication/protocol/index.js';
import {
  type Answer,
  expectProblem,
  freshDatabase,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { commandsDuring, nameOf as nameOfCommand } from './profiler.js';

/** 50 of a second: of what is left of {@link WORK}, 20 s. */
const PACE: Pace = { seconds: 10, done: 500, added: 0 };
const WORK = { done: 4000, total: 5000, pace: PACE };
/** `Retry-After` where nothing can be told. */
const CONSTANT = '2';

/** What a leader has stored of its progress, as an instance that does not lead tells it to those who wait. */
describe.each<[string, Record<string, string>]>([
  ['an instance that hears of the progress', {}],
  ['an instance that reads it each time', { KNOWLEDGE_MS: '0' }],
])('%s', (_which, environment) => {
  let service: TestService;
  let app: TestApplication;
  let neighbour: TestApplication;
  let root: string;
  /** Up to here the feeds of both have a moment. */
  let to: string;
  let stored: WatchState;
  let console: AdminConsole;

  beforeAll(async () => {
    const watching = await TestService.startOn(await freshDatabase(), { ROLE: 'watch' });
    service = await watching.another({ ROLE: 'serve', MARK_WAIT: '300', ...environment });
    [app, neighbour] = [await service.application(), await service.application()];
    for (const one of [app, neighbour]) await one.product({ id: 'one', data: { n: 1 } });
    await service.db.collection('services').insertOne({ ...OF_APP(app), filter: { 'data.n': 1 } });
    await service.watcher.caughtUp();
    to = new Date(
      Math.min(...[await app.max('product'), await neighbour.max('product')].map(Number)),
    ).toISOString();
    for (const one of [app, neighbour]) expect((await ask(one)).status).toBe(200);
    expect((await ask(app, 'few')).status).toBe(200);
    root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
    console = new AdminConsole(service.uri);
    await watching.leave();
    stored = (await leases().findOne({}))!;
  });
  beforeEach(async () => {
    stored = { ...stored, holder: 'elsewhere', expires: new Date('9999-01-01') };
    await leases().replaceOne({}, stored);
    await entries().updateOne(OF_APP(app), { $set: { pending: false }, $unset: { stamping: '' } });
    await service.heard();
  });
  afterAll(() => service.stop());

  const leases = () => service.db.collection<WatchState>('tidemark.leases');
  const entries = () => service.db.collection('tidemark.filterversions');
  const put = async ($set: object) => {
    await leases().updateOne({}, { $set });
    await service.heard();
  };
  const putAside = (work: object) =>
    put({ aside: [{ ...app.tenant, watched: stored.since!, token: {}, ...work }] });
  const edit = async (more: object) => {
    await entries().updateOne(OF_APP(app), { $set: { pending: true, pendingSince: new Date(), ...more } });
    await service.heard();
  };
  const ask = (one: TestApplication, name?: string) => one.feed('product', name).ask({ to });
  const nameOf = ({ organizationid, appid }: TestApplication) => `"${organizationid}/${appid}"`;
  const status = async () =>
    (await send(`${service.url}/admin/v1/status`, 'GET', { user: root })).json as Status;

  /** Asserts that an answer names the application and how far it has come, and answers its `Retry-After`. */
  function refused(answer: Answer, slug: string, one: TestApplication, told = ''): string | null {
    const { detail } = expectProblem(answer, 503, slug);
    expect(detail).toContain(nameOf(one));
    expect(detail).toContain(told);
    return answer.headers.get('retry-after');
  }

  describe('503 `not-watched` of an application that is aside', () => {
    it('names it, and `Retry-After` is a half of the estimate', async () => {
      await putAside(WORK);
      const told = '(80 % done, about 20 s left)';
      expect(refused(await ask(app), 'not-watched', app, told)).toBe('10');
      expect((await ask(neighbour)).status).toBe(200);
    });

    it('so does that of `max`, where it has no moment', async () => {
      await service.db.collection('tidemark.moments').deleteMany(app.tenant);
      await putAside({ ...WORK, done: 3000 });
      const answer = await app.get('product/max');
      expect(refused(answer, 'not-watched', app, '(60 % done, about 40 s left)')).toBe('10');
      await leases().replaceOne({}, stored);
    });

    it.each<[string, object, string, string]>([
      [
        'a page waits for what there is by now, and not for what is added',
        { pace: { ...PACE, added: 900 } },
        'about 20 s left',
        '10',
      ],
      [
        '30 s is the longest',
        { done: 0, total: 1e9, pace: { ...PACE, seconds: 100 } },
        '0 % done, about',
        '30',
      ],
      ['it is no longer than the work was seen', { done: 0, total: 1e9 }, '0 % done, about', '10'],
      ['1 s is the shortest', { done: 5000 }, 'about 0 s left', '1'],
      ['nothing is known of an entry without a pace', { pace: undefined }, '(80 % done)', CONSTANT],
      ['of one whose work stands still', { pace: { ...PACE, done: 0 } }, '(80 % done)', CONSTANT],
      [
        'of one without counts, as earlier versions have written it',
        { done: undefined, total: undefined },
        'not finished yet: ',
        CONSTANT,
      ],
      ['of one that is damaged', { done: 'half', pace: [] }, 'not finished yet: ', CONSTANT],
    ])('%s', async (_what, more, told, retryAfter) => {
      await putAside(JSON.parse(JSON.stringify({ ...WORK, ...more })) as object);
      expect(refused(await ask(app), 'not-watched', app, told)).toBe(retryAfter);
    });

    it('nothing is estimated while no instance leads', async () => {
      await putAside(WORK);
      await put({ expires: new Date(0) });
      expect(refused(await ask(app), 'not-watched', app)).toBe(CONSTANT);
      const { watcher } = await status();
      expect(watcher.aside[0]).toMatchObject({ share: 0.8 });
      expect(watcher.aside[0]).not.toHaveProperty('secondsLeft');
    });
  });

  describe('503 `not-watched` while the watcher is late', () => {
    const LATE_S = 1000;
    const late = async (pace?: Pace) => {
      const { t } = stored.watched!;
      const back = new mongo.Timestamp({ t: t - LATE_S, i: 1 });
      await put({ watched: back, since: back, ...(pace && { pace }) });
    };

    it('names the application, and `Retry-After` comes from how fast the log is read', async () => {
      await late({ seconds: 10, done: 1000, added: 10 });
      const answer = await ask(neighbour);
      expect(Number(refused(answer, 'not-watched', neighbour, ' s left)'))).toBeGreaterThanOrEqual(5);
      const { secondsLeft, lagSeconds } = (await status()).watcher;
      expect(secondsLeft).toBe(Math.ceil((lagSeconds! * 10) / 990));
      const { output } = await console.run('status');
      expect(output).toMatch(/ s behind, about \d+ s left$/m);
    });

    it.each<[string, Pace | undefined]>([
      ['where nothing is known', undefined],
      ['where it does not read', { seconds: 10, done: 0, added: 10 }],
    ])('it is the constant %s', async (_where, pace) => {
      await late(pace);
      expect(refused(await ask(neighbour), 'not-watched', neighbour)).toBe(CONSTANT);
    });

    it('`status` tells no end of a lag that does not shrink', async () => {
      await late({ seconds: 10, done: 10, added: 10 });
      const { watcher } = await status();
      expect(watcher.lagSeconds).toBeGreaterThanOrEqual(LATE_S);
      expect(watcher).not.toHaveProperty('secondsLeft');
    });
  });

  describe('503 `preparing`', () => {
    const pass = { reason: 'drop of products', isRepair: true, started: new Date(), ...WORK };

    it('names the application, and `Retry-After` is a half of the estimate', async () => {
      await put({ pass });
      const told = '(80 % done, about 20 s left)';
      for (const answer of [await ask(app), await app.get('product/max'), await ask(app, 'few')])
        expect(refused(answer, 'preparing', app, told)).toBe('10');
      expect(refused(await ask(neighbour), 'preparing', neighbour, told)).toBe('10');
    });

    it('is the constant where nothing can be told', async () => {
      await put({ pass: { ...pass, done: 6000 } });
      expect(refused(await ask(app), 'preparing', app, '(100 % done)')).toBe(CONSTANT);
      await put({ pass, expires: new Date(0) });
      expect(refused(await ask(app), 'preparing', app)).toBe(CONSTANT);
    });

    it('`status` tells how long it will take', async () => {
      await put({ pass });
      expect((await status()).watcher.pass).toMatchObject({ done: 4000, total: 5000, secondsLeft: 20 });
      expect((await console.run('status')).output).toMatch(
        /^Pass {8}80 %, 4,000 of about 5,000 records and ledger entries, about 20 s left, since .*: drop of products$/m,
      );
    });
  });

  describe('503 `not-watched` of a service whose filter was edited', () => {
    it('names the service and its application, and `Retry-After` is a half of the estimate', async () => {
      await edit({ stamping: WORK });
      const answer = await ask(app, 'few');
      expect(refused(answer, 'not-watched', app, '(80 % done, about 20 s left)')).toBe('10');
      expect(expectProblem(answer, 503, 'not-watched').detail).toContain('product service "few"');
      expect((await ask(app)).status).toBe(200);
    });

    it('is the constant before anything is told', async () => {
      await edit({});
      expect(refused(await ask(app, 'few'), 'not-watched', app)).toBe(CONSTANT);
    });

    it('`status`, the API and the metrics tell of it', async () => {
      await edit({ pendingSince: new Date(Date.now() - 5000), stamping: { ...WORK, failures: 3 } });
      const { pendingServices } = await status();
      expect(pendingServices).toEqual({
        services: 1,
        first: [{ ...OF_APP(app), since: expect.any(String), share: 0.8, failures: 3, secondsLeft: 20 }],
      });
      expect(await console.json('status')).toMatchObject({ pendingServices });
      expect((await console.run('status')).output).toMatch(
        /^Edited {6}1 service, whose feeds wait .*\n +product service "few" of \S+, since \S+, 80 % done, about 20 s left, 3 attempts failed/m,
      );
      expect(await service.metric('tidemark_edited_services')).toBe(1);
      expect(await service.metric('tidemark_edit_pending_seconds')).toBeGreaterThanOrEqual(5);
      expect(await service.metric('tidemark_edit_failures')).toBe(3);
      await put({ expires: new Date(0) });
      expect((await status()).pendingServices.first[0]).not.toHaveProperty('secondsLeft');
    });

    it.each<[string, object]>([
      ['nothing in place of the progress', { stamping: null }],
      ['a text in place of a time', { pendingSince: 'yesterday' }],
      ['a text in place of a count', { stamping: { ...WORK, failures: 'many' } }],
    ])('`status` and the metrics tell of one that somebody else has damaged: %s', async (_what, damage) => {
      await edit(damage);
      expect((await status()).pendingServices).toMatchObject({ services: 1, first: [{ failures: 0 }] });
      expect((await console.run('status')).output).toMatch(/^Edited {6}1 service/m);
      expect(await service.metric('tidemark_edited_services')).toBe(1);
      expect(await service.metric('tidemark_edit_failures')).toBe(0);
    });

    it('a scrape counts them by the index alone, and no more than 10,000', async () => {
      const many = Array.from({ length: 10_050 }, (_, n) => ({
        ...{ ...neighbour.tenant, kind: 'product', name: `pending-${n}`, state: 'on', version: 1 },
        ...{ pending: true, pendingSince: new Date(n), stamping: { failures: n === 0 ? 4 : 1 } },
      }));
      await entries().insertMany(many);
      const commands = await commandsDuring(service.db, async () => {
        expect(await service.metric('tidemark_edited_services')).toBe(10_000);
        expect(await service.metric('tidemark_edit_failures')).toBe(4);
      });
      await entries().deleteMany(neighbour.tenant);
      const counts = commands.filter((one) => nameOfCommand(one) === 'aggregate tidemark.filterversions');
      expect(counts.length).toBeGreaterThan(0);
      for (const { docsExamined, keysExamined } of counts) {
        expect(docsExamined).toBe(0);
        expect(keysExamined).toBeLessThanOrEqual(10_001);
      }
    });

    it('there is none as a rule', async () => {
      expect((await status()).pendingServices).toEqual({ services: 0, first: [] });
      const names = ['edited_services', 'edit_pending_seconds', 'edit_failures'];
      for (const name of names) expect(await service.metric(`tidemark_${name}`)).toBe(0);
    });
  });

  it('`status` tells of applications that are aside how far they have come', async () => {
    await putAside({ ...WORK, pace: { ...PACE, added: 250 } });
    const { aside } = (await status()).watcher;
    const told = { ...app.tenant, lagSeconds: expect.any(Number), share: 0.8, secondsLeft: 40 };
    expect(aside).toEqual([told]);
    expect((await console.run('status')).output).toMatch(
      /^ +\S+\/\S+: \d+ .* behind, 80 % done, about 40 s left$/m,
    );
  });
});

const OF_APP = ({ tenant }: TestApplication) => ({ ...tenant, kind: 'product', name: 'few' });
