import { mongo } from 'mongoose';
import type { BuiltInKind } from '../../src/kinds/index.js';
import { cursorOf } from '../../src/replication/feed/index.js';
import {
  eventually,
  expectProblem,
  FEED_PATHS,
  Gate,
  holdControlStream,
  pathFor,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { changesOf } from './changes-feed.js';
import { EventClient } from './event-client.js';
import { commandsDuring } from './profiler.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const FAR = '9999-01-01';
const CHANGES = ['member/default/changes', 'product/default/changes', 'productbychannel/web/changes'];
const PATHS = [...FEED_PATHS.map((path) => pathFor(path)), ...CHANGES];
const BUILT_IN_KINDS: BuiltInKind[] = ['member', 'product'];

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());
beforeEach(async () => {
  app = await service.application();
});

const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const kindOf = (path: string): BuiltInKind => (path.startsWith('member') ? 'member' : 'product');
const ask = (path: string, query: Record<string, string>, by = app) =>
  onceServed(() => by.get(path, { query }));

async function filled(): Promise<void> {
  await app.product({ id: 'p', channels: ['web'] });
  await app.member({ id: 'm' });
  await service.watcher.caughtUp();
}

/** One channel has ever been carried, and nothing is left. */
async function emptied(): Promise<void> {
  const { organizationid, appid } = app;
  const channels = service.db.collection('tidemark.channels');
  await channels.insertOne({ organizationid, appid, channel: 'web' });
}

describe('a `from` from ahead of everything that the database knows', () => {
  it.each(PATHS)('is 410 `source-restored`: %s', async (path) => {
    await filled();
    for (const to of ['2020-01-01', FAR])
      expectProblem(await ask(path, { from: ahead(30 * DAY_MS), to }), 410, 'source-restored');
    await app.max(kindOf(path));
    expectProblem(await ask(path, { from: ahead(MINUTE_MS), to: FAR }), 410, 'source-restored');
  });

  it.each(PATHS)('is 410 where there is nothing yet: %s', async (path) => {
    await emptied();
    expectProblem(await ask(path, { from: ahead(30 * DAY_MS), to: FAR }), 410, 'source-restored');
  });

  it('one that lies after all that was announced, and before the clock, is 410 too', async () => {
    await filled();
    const max = await app.max('product');
    const marks = service.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
    const { fence } = (await marks.findOne({ _id: { ...app.tenant, kind: 'product' } }))!;
    await eventually(() => Date.now() > fence.getTime() + 1);
    const from = new Date(fence.getTime() + 1).toISOString();
    const to = max.toISOString();
    expectProblem(await ask('product/default/updates', { from, to }), 410, 'source-restored');
    const other = await service.another();
    const answer = await ask('product/default/updates', { from, to }, app.seenBy(other));
    expectProblem(answer, 410, 'source-restored');
    await other.leave();
  });
});

describe('a `from` that the database knows is served', () => {
  it.each(PATHS)('the offset of max, and the `to` of a page: %s', async (path) => {
    await filled();
    const max = (await app.max(kindOf(path))).toISOString();
    const { headers } = await ask(path, { to: FAR });
    for (const from of [max, headers.get('tidemark-to')!])
      for (const to of [max, FAR, '2020-01-01']) expect((await ask(path, { from, to })).status).toBe(200);
  });

  it.each(PATHS)('the present, in an application that has nothing: %s', async (path) => {
    await emptied();
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await ask(path, { from: ahead(0), to: FAR })).status).toBe(200);
      expect((await ask(path, { from: ahead(2000), to: ahead(0) })).status).toBe(200);
      await app.max(kindOf(path));
    }
  });

  it('a time of the past, in an application of which nobody has read anything yet', async () => {
    await filled();
    for (const path of PATHS) {
      const other = (app = await service.application());
      await filled();
      expect((await ask(path, { from: '2026-01-01', to: FAR }, other)).status).toBe(200);
    }
  });

  it('one ahead of the clock, where a server announced it whose clock was ahead', async () => {
    await filled();
    await app.max('product');
    const fence = new Date(Date.now() + MINUTE_MS);
    const marks = service.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
    await marks.updateOne({ _id: { ...app.tenant, kind: 'product' } }, { $set: { fence } });
    const query = { from: fence.toISOString(), to: FAR };
    for (const path of PATHS.filter((one) => kindOf(one) === 'product'))
      expect((await app.get(path, { query })).status).toBe(200);
    const later = { from: new Date(fence.getTime() + 1).toISOString(), to: FAR };
    expectProblem(await app.get('product/default/updates', { query: later }), 410, 'source-restored');
  });

  it('what another instance has just announced, whether or not this one has heard of it', async () => {
    await filled();
    const gate = await Gate.to(service.uri);
    await gate.open();
    const second = await service.another({ MONGODB_URI: gate.uri });
    const other = app.seenBy(second);
    await second.knows(other);
    for (const isHeld of [false, true]) {
      if (isHeld) await holdControlStream(gate, service.db);
      for (let turn = 0; turn < 10; turn += 1) {
        const written = await app.product({ id: `${String(isHeld)}${turn}`, channels: ['web'] });
        await eventually(async () => (await app.max('product')) >= (written['lastupdated'] as Date));
        const max = await app.max('product');
        const { cursor } = await changesOf(app, 'product/default');
        const asked = [
          app.seenBy(second).get('product/default/updates', { query: { from: max.toISOString(), to: FAR } }),
          app.seenBy(second).get('product/default/changes', { query: { cursor } }),
        ];
        for (const { status } of await Promise.all(asked)) expect([200, 503]).toContain(status);
      }
    }
    gate.release();
    await second.leave();
    await gate.shut();
  });
});

describe('beside it', () => {
  it('`events` tell the offset to whoever was told of a later one', async () => {
    await filled();
    for (const kind of BUILT_IN_KINDS) {
      const client = await EventClient.open(app, kind, { lastEventId: ahead(30 * DAY_MS) });
      await client.hears(await app.max(kind));
      client.leave();
    }
  });

  it('a digest up to a time ahead is one up to the clock', async () => {
    await filled();
    const { status, json } = await ask('product/default/digest', { to: ahead(30 * DAY_MS) });
    expect([status, (json as { count: number }).count]).toEqual([200, 1]);
  });

  it('so is a cursor of `changes` that is ahead, whose `to` no request states: not 400', async () => {
    await filled();
    const feed = JSON.stringify([
      app.organizationid,
      app.appid,
      'product',
      'changes',
      { service: 'default' },
    ]);
    for (const from of [undefined, new Date(ahead(-DAY_MS)), new Date(ahead(DAY_MS))]) {
      const place = { from, to: new Date(ahead(2 * DAY_MS)), toIsClock: true, section: 'matching' as const };
      const lastoffsetid = mongo.ObjectId.createFromHexString('6740a1b2c3d4e5f601234567');
      const cursor = cursorOf(feed, { ...place, lastoffsetid, withDeletes: true });
      for (const name of ['cursor', 'lastoffsetid'])
        expectProblem(await ask('product/default/changes', { [name]: cursor }), 410, 'source-restored');
    }
  });

  it('400 and 404 come before it, and 401', async () => {
    await filled();
    const from = ahead(30 * DAY_MS);
    expectProblem(await ask('product/default/updates', { from, to: 'x' }), 400, 'invalid-request');
    expectProblem(await ask('product/unknown/updates', { from, to: FAR }), 404, 'unknown-service');
    const lastoffsetid = '6740a1b2c3d4e5f601234567';
    const beyond = { from, to: FAR, lastoffsetid };
    expectProblem(await ask('product/default/updates', beyond), 400, 'invalid-request');
    const wrong = await app.get('product/default/updates', { password: 'wrong', query: { from, to: FAR } });
    expect(wrong.status).toBe(401);
  });

  it('a consumer that goes on from where it was costs no look at the mark, as one that was never told does', async () => {
    await filled();
    await service.knows(app);
    let { cursor } = await changesOf(app, 'product/default');
    const max = await app.max('product');
    await service.watcher.caughtUp();
    const looksAtMarks = async (work: () => Promise<unknown>) =>
      (await commandsDuring(service.db, work)).filter(({ command }) =>
        JSON.stringify(command).includes('{"from":"tidemark.marks"'),
      ).length;
    const usual = async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await app.feed('product').page({ from: max, to: max });
        cursor = (await changesOf(app, 'product/default', { cursor })).cursor;
      }
    };
    expect(await looksAtMarks(usual)).toBe(0);
    const query = { from: ahead(DAY_MS), to: FAR };
    expect(await looksAtMarks(() => app.get('product/default/updates', { query }))).toBe(1);
  });
});
