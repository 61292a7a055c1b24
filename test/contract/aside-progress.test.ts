import { mongo } from 'mongoose';
import type { Tenant } from '../../src/record/index.js';
import {
  type Processed,
  ProgressReader,
  UnwatchedFeeds,
  WorkedThrough,
} from '../../src/replication/store/index.js';
import type { WatchState } from '../../src/replication/protocol/index.js';
import {
  eventually,
  expectProblem,
  leadElsewhere,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const without = (...but: Tenant[]): Processed => ({ share: { but }, withoutKinds: [] });

/** What the leader says of an application that it works through beside all others, and what feeds and operators see of it. */
describe.each<[string, Record<string, string>]>([
  ['of an instance that hears of the progress', {}],
  ['of an instance that reads it each time', { KNOWLEDGE_MS: '0' }],
])('the feeds %s', (_which, environment) => {
  let service: TestService;
  let bulk: TestApplication;
  let neighbour: TestApplication;
  let giveUp: () => Promise<void>;
  /** Up to here the feeds of both have a moment. */
  let to: Date;

  beforeAll(async () => {
    service = await TestService.start({ MARK_WAIT: '300', ...environment });
    [bulk, neighbour] = [await service.application(), await service.application()];
    for (const app of [bulk, neighbour]) await app.put('product', { id: 'one' });
    await service.watcher.caughtUp();
    const newest = [await bulk.max('product'), await neighbour.max('product')].map(Number);
    to = new Date(Math.min(...newest));
    for (const app of [bulk, neighbour]) await app.feed('product').page({ to });
    giveUp = await leadElsewhere(service.db);
    await eventually(async () => (await service.metric('tidemark_watcher_leads')) === 0);
  });
  afterEach(() => put({ $unset: { aside: '' } }));
  afterAll(async () => {
    await giveUp();
    await service.stop();
  });

  const leases = () => service.db.collection<WatchState>('tidemark.leases');
  const put = async (change: mongo.UpdateFilter<WatchState>) => {
    await leases().updateOne({ _id: 'watcher' }, change);
    await service.heard();
  };
  const putAside = async (watched?: mongo.Timestamp) => {
    const state = (await leases().findOne({ _id: 'watcher' }))!;
    await put({ $set: { aside: [{ ...bulk.tenant, watched: watched ?? state.since!, token: {} }] } });
    return state;
  };
  const ask = (app: TestApplication) => app.feed('product').ask({ to: to.toISOString() });
  const readiness = async () => (await send(`${service.url}/health/ready`, 'GET', {})).status;

  it('an application that is aside waits for its own progress, and is named; others are served', async () => {
    const { watched } = await putAside();
    const refused = await ask(bulk);
    expect(expectProblem(refused, 503, 'not-watched').detail).toMatch(
      new RegExp(`^Application "${bulk.organizationid}/${bulk.appid}" has very many changes, `),
    );
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await ask(neighbour)).status).toBe(200);
    await putAside(watched);
    expect((await ask(bulk)).status).toBe(200);
  });

  it('its `max` names it as well, where no moment of it can be shown', async () => {
    await putAside();
    const { detail } = expectProblem(await bulk.get('product/max'), 503, 'not-watched');
    expect(detail).toContain(`"${bulk.organizationid}/${bulk.appid}"`);
    expect((await neighbour.get('product/max')).status).toBe(200);
  });

  it('is served as soon as it is taken back', async () => {
    await putAside();
    expect((await ask(bulk)).status).toBe(503);
    await put({ $unset: { aside: '' } });
    expect((await ask(bulk)).status).toBe(200);
  });

  it('holds up no job of the leader for long', async () => {
    const { since } = (await leases().findOne({ _id: 'watcher' }))!;
    await putAside(new mongo.Timestamp(since!.toBigInt() - 1n));
    const worked = service.app.get(WorkedThrough, { strict: false });
    expect(await worked.noPass(AbortSignal.timeout(5000))).toEqual({ but: [] });
    expect(await worked.upTo(since!, AbortSignal.timeout(300))).toBeUndefined();
    jest.replaceProperty(worked as unknown as { longestWaitMs: number }, 'longestWaitMs', 300);
    expect(await worked.upTo(since!, AbortSignal.timeout(5000))).toEqual(without(bulk.tenant));
    jest.restoreAllMocks();
  });

  it('a job that waits for a time before the end of the last pass looks anew', async () => {
    const { since } = (await leases().findOne({ _id: 'watcher' }))!;
    const signal = AbortSignal.timeout(60_000);
    const worked = service.app.get(WorkedThrough, { strict: false });
    const at = new mongo.Timestamp(since!.toBigInt() - 1n);
    expect([await worked.upTo(at, signal), await worked.isStill(without(), at)]).toEqual([undefined, false]);
    expect(await worked.isStill(without(), since!)).toBe(true);
    await putAside(at);
    expect(await worked.isStill(without(), since!)).toBe(false);
    expect(await worked.isStill(without(bulk.tenant), since!)).toBe(true);
    expect(signal.aborted).toBe(false);
  });

  it('does not count against readiness', async () => {
    await putAside();
    const unwatched = service.app.get(UnwatchedFeeds, { strict: false });
    const counted = jest.spyOn(unwatched, 'refused');
    expectProblem(await ask(bulk), 503, 'not-watched');
    expect(counted).not.toHaveBeenCalled();
    expect([unwatched.seconds, await readiness()]).toEqual([0, 200]);
  });

  it('`status` and the metrics tell how far behind it is', async () => {
    const { since } = await putAside();
    const admin = new AdminConsole(service.uri);
    const secondsSince = () => Date.now() / 1000 - since!.getHighBitsUnsigned();
    const least = secondsSince();
    const { watcher } = await admin.json<{
      watcher: { aside: { lagSeconds: number }[]; oplogWindowSeconds: number };
    }>('status');
    const most = secondsSince();
    expect(watcher.aside).toEqual([{ ...bulk.tenant, lagSeconds: expect.any(Number) }]);
    const lag = watcher.aside[0]!.lagSeconds;
    expect(lag).toBeGreaterThanOrEqual(Math.floor(least));
    expect(lag).toBeLessThanOrEqual(Math.ceil(most));
    expect((await admin.run('status')).output).toMatch(
      /^Aside {7}1 application, processed separately from all others\n +\S+\/\S+: \d+ s behind$/m,
    );
    expect(await service.metric('tidemark_applications_aside')).toBe(1);
    expect(await service.metric('tidemark_aside_lag_seconds')).toBeGreaterThanOrEqual(lag);
    await put({ $unset: { aside: '' } });
    expect(await service.metric('tidemark_applications_aside')).toBe(0);
    expect(await service.metric('tidemark_aside_lag_seconds')).toBe(0);
  });

  describe('as the database tells it', () => {
    const reader = () => service.app.get(ProgressReader, { strict: false });
    const of = (watched: unknown, more: object = bulk.tenant) => ({ ...more, watched, token: {} });
    const storeAside = (aside: unknown) => put({ $set: { aside: aside as never } });

    it('stages that are joined see the progress of the application', async () => {
      const { watched, since } = await putAside();
      const stages = [{ $set: { seen: '$watched' } }];
      const look = (app: TestApplication) => reader().readWith<{ seen: mongo.Timestamp }>(app.tenant, stages);
      expect(await look(bulk)).toMatchObject({ watched: since, seen: since, isAside: true });
      expect(await look(neighbour)).toMatchObject({ watched, seen: watched, isAside: false });
    });

    it('which applications are not worked through up to a cluster time, and whether a pass over them is due', async () => {
      const { watched, since } = await putAside();
      expect(await reader().laggards(since!)).toMatchObject({ passing: [], behind: [] });
      expect(await reader().laggards(watched!)).toMatchObject({ passing: [], behind: [bulk.tenant] });
      expect(await reader().laggards(new mongo.Timestamp(watched!.toBigInt() + 1n))).toBeUndefined();
      await storeAside([{ ...bulk.tenant, pass: {} }]);
      expect(await reader().laggards(since!)).toMatchObject({ passing: [bulk.tenant], behind: [] });
      expect(await reader().passing()).toEqual([bulk.tenant]);
    });

    it.each([['$watched'], ['$$ROOT'], ['{"$literal": 1}']])(
      'an application may be called %s',
      async (appid) => {
        const { since, watched } = await putAside();
        const odd = { organizationid: '$organizationid', appid };
        expect(await reader().read(odd)).toMatchObject({ watched, isAside: false });
        await storeAside([of(since, odd)]);
        expect(await reader().read(odd)).toMatchObject({ watched: since, isAside: true });
      },
    );

    it('looks that begin at one time are one for each application', async () => {
      await putAside();
      const { collection } = (reader() as unknown as { states: { collection: mongo.Collection } }).states;
      const looks = jest.spyOn(collection, 'aggregate');
      const tenants = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? bulk.tenant : neighbour.tenant));
      await Promise.all(tenants.map((tenant) => reader().read({ ...tenant })));
      // Of each application the first look, and one for those who came while it was under way.
      expect(looks).toHaveBeenCalledTimes(4);
      looks.mockRestore();
    });

    /** Whether the progress of the application, of another one, and who is behind is known; what a page of the application is answered. */
    const [NONE, OF_OTHERS, OF_EACH, OF_ALL] = [
      [false, false, false],
      [false, true, true],
      [true, true, false],
      [true, true, true],
    ];
    it.each<[string, (since: mongo.Timestamp) => unknown, boolean[], number]>([
      ['a text in place of the list', () => 'all', NONE, 503],
      ['a text in place of the cluster time', () => [of('soon')], OF_OTHERS, 503],
      ['no cluster time', () => [of(undefined)], OF_OTHERS, 503],
      ['a number in place of an application', () => [7], OF_EACH, 200],
      ['null in place of an application', (since) => [null, of(since)], OF_EACH, 503],
      ['null in place of the list', () => null, OF_ALL, 200],
    ])('%s tells nothing', async (_what, aside, known, status) => {
      const { since } = (await leases().findOne({ _id: 'watcher' }))!;
      await storeAside(aside(since!));
      const looks = [reader().read(bulk.tenant), reader().read(neighbour.tenant), reader().laggards(since!)];
      const told = (await Promise.allSettled(looks)).map((look) =>
        look.status === 'fulfilled'
          ? look.value !== undefined
          : (look.reason as { slug?: string }).slug !== 'preparing' && look,
      );
      expect(told).toEqual(known);
      expect((await ask(bulk)).status).toBe(status);
    });
  });
});
