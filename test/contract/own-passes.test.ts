import { mongo } from 'mongoose';
import { RAISE, placeAfter, placeOf, type WatchState } from '../../src/replication/protocol/index.js';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { LOST_TOKEN, OwnPasses, passToCome } from './own-pass.js';

let service: TestService;
let own: TestApplication;
let other: TestApplication;
let passes: OwnPasses;
beforeAll(async () => {
  service = await TestService.start();
  passes = new OwnPasses(service);
});
beforeEach(async () => {
  own = await service.application();
  other = await service.application();
  for (const id of ['deleted', 'changed', 'leaving']) await own.put('product', { id });
  for (const id of ['coming', 'staying']) await other.put('product', { id });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const OLD = new Date('2024-02-29T12:00:00.000Z');
const products = () => service.db.collection<mongo.Document>('products');
const marks = () => service.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
/** The look of a pass for the ledger's entries with which it goes over their owners, behind members, products and the end of these. */
const OWNERS = 4;
const createMember = (app: TestApplication) =>
  app.send('POST', 'api/v0.1/member', { body: { accountnumber: '1', email: 'new@example.com' } });

async function harvest(app: TestApplication, from: Date): Promise<{ ids: string[]; gone: string[] }> {
  const ids = (await app.feed('product').drain({ from })).map(({ id }) => id);
  const gone = (await app.hardDeletes('product').drain({ from })).map(({ id }) => id);
  return { ids: ids.sort(), gone: gone.sort() };
}

/** All that can happen to a record, with stamps that no feed would find. */
async function change(): Promise<void> {
  const { tenant } = own;
  const lastupdated = OLD;
  await products().deleteOne({ ...tenant, id: 'deleted' });
  await products().updateOne({ ...tenant, id: 'changed' }, { $set: { lastupdated, 'data.n': 1 } });
  await products().updateOne({ ...tenant, id: 'leaving' }, { $set: { ...other.tenant, lastupdated } });
  await products().updateOne({ ...other.tenant, id: 'coming' }, { $set: { ...tenant, lastupdated } });
  for (const id of ['inserted', 7]) await products().insertOne({ ...tenant, id, lastupdated, data: {} });
  await products().insertOne({ ...other.tenant, id: 'inserted', lastupdated, data: {} });
}

const ALL_OF_OWN = { ids: ['7', 'changed', 'coming', 'inserted'], gone: ['deleted', 'leaving'] };

describe('a pass over one application finds what no loop has worked through', () => {
  it.each([
    ['where one is still to come', () => ({ pass: passToCome() })],
    ['where the log does not reach back to its place', () => ({ token: LOST_TOKEN })],
  ])('%s: its records are stamped anew, and those of others are not', async (_when, entry) => {
    const from = { own: await own.max('product'), other: await other.max('product') };
    const stayed = await products().findOne({ ...other.tenant, id: 'staying' });
    await withoutWatcher(service, async () => {
      const { watched } = (await passes.leases.findOne({}))!;
      await change();
      await passes.store({ watched: watched!, ...entry() }, own);
    });
    await passes.together();
    expect(await harvest(own, from.own)).toEqual(ALL_OF_OWN);
    expect(await harvest(other, from.other)).toEqual({ ids: ['inserted', 'leaving'], gone: ['coming'] });
    expect(await products().findOne({ ...other.tenant, id: 'staying' })).toEqual(stayed);
  });

  it('a record that leaves the application before without a stamp gets one where it comes to, also if that was never read', async () => {
    const unread = await service.application();
    const stampless = { ...own.tenant, id: 'on', data: {} };
    const { isHeld, release } = passes.hold();
    await withoutWatcher(service, async () => {
      await passes.store({ pass: passToCome() }, own);
      await products().insertOne({ ...stampless });
    });
    await isHeld();
    expect(await products().findOne(stampless)).not.toBeNull();
    await products().updateOne(stampless, { $set: unread.tenant });
    release();
    await passes.together();
    expect(await products().findOne({ ...unread.tenant })).toMatchObject({ lastupdated: expect.any(Date) });
  });

  it('goes on where it was cut off, with what the log tells of the meantime', async () => {
    const from = await own.max('product');
    const { isHeld, release } = passes.hold();
    await passes.begin(passToCome(), own);
    await isHeld();
    // Before it has any effect: a leader that was overtaken must not begin at a later place than the next one.
    expect((await passes.aside())[0]?.pass?.reached).toMatchObject({ at: expect.any(String), token: {} });
    await withoutWatcher(service, async () => {
      release();
      await change();
    });
    await passes.together();
    expect(await harvest(own, from)).toEqual(ALL_OF_OWN);
  });
});

it('a text takes the place of a number of which the ledger knows of a later place than the pass has come to', async () => {
  const text = new mongo.ObjectId();
  await withoutWatcher(service, async () => {
    const { token } = (await passes.leases.findOne({}))!;
    const reached = { at: placeOf(token as { _data: string }), token, step: 'products' };
    const record = (_id: mongo.ObjectId, id: unknown) => ({ _id, ...own.tenant, id, lastupdated: OLD });
    const number = new mongo.ObjectId();
    await products().insertMany([record(text, '7'), record(number, 7)]);
    const later = placeAfter(new mongo.Timestamp({ t: Math.floor(Date.now() / 1000) + 60, i: 1 }));
    const entry = { ...own.tenant, kind: 'product', id: '7', alive: true, owner: number, isNumber: true };
    await service.db.collection('tidemark.ledger').insertOne({ ...entry, learned: later });
    await passes.store({ pass: passToCome({ reached }) }, own);
  });
  await passes.together();
  const found = { ...own.tenant, id: '7', alive: true };
  const living = await service.db.collection('tidemark.ledger').findOne(found);
  expect(String(living?.['owner'])).toBe(text.toHexString());
});

describe('while it is under way', () => {
  it('the application answers 503 `preparing` with its name, and others are served', async () => {
    const to = await own.max('product');
    expect((await own.feed('product').drain({ to })).length).toBe(3);
    const { isHeld, release } = passes.hold();
    await passes.begin(passToCome(), own);
    await isHeld();
    for (const path of ['product/max', `product/default/updates?to=${to.toISOString()}`]) {
      const answer = await own.get(path);
      expectProblem(answer, 503, 'preparing');
      expect(answer.json).toMatchObject({
        detail: expect.stringContaining(`application "${own.organizationid}/${own.appid}"`),
      });
    }
    await other.put('product', { id: 'meanwhile' });
    expect((await other.feed('product').drain({})).map(({ id }) => id)).toContain('meanwhile');
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    release();
    await passes.together();
    expect((await own.feed('product').drain({})).length).toBe(3);
    // Nothing of before is shown, not even where it was shown before: all of it has a newer stamp.
    expect(await own.feed('product').drain({ to })).toEqual([]);
  });

  it('members of it cannot be written where it is the first one, and those of others can', async () => {
    const { isHeld, release } = passes.hold();
    await passes.begin(passToCome({ isRepair: false, isFirst: true }), own);
    await isHeld();
    const another = await service.another({ ROLE: 'serve' });
    expectProblem(await createMember(own.seenBy(another)), 503, 'preparing');
    expect((await createMember(other.seenBy(another))).status).toBe(201);
    release();
    await passes.together();
    expect((await createMember(own.seenBy(another))).status).toBe(201);
    await another.leave();
  });

  it('a pass over everything that begins before a first pass has ended is the first one of that application', async () => {
    await own.max('product');
    const [ofOwn, ofAll] = [passes.fail(), passes.holdAll()];
    await passes.begin(passToCome({ isRepair: false, isFirst: true }), own);
    await eventually(() => Promise.resolve(ofOwn.failures() > 0));
    const another = await service.another({ ROLE: 'serve' });
    await service.db.collection('tidemark.marks').drop();
    await ofAll.isHeld();
    expectProblem(await createMember(own.seenBy(another)), 503, 'preparing');
    expect((await createMember(other.seenBy(another))).status).toBe(201);
    ofOwn.over();
    ofAll.release();
    await passes.together();
    expect((await createMember(own.seenBy(another))).status).toBe(201);
    await another.leave();
  });

  /** Two are passed over at a time: the stream of the third is opened long after the term has begun. */
  it('a record that comes at or below a fence which was announced before its stream was opened is stamped above that', async () => {
    const [first, second] = [await service.application(), await service.application()];
    await own.max('product');
    const others = passes.hold({ apps: [first, second] });
    await passes.begin(passToCome(), first, second, own);
    await others.isHeld();
    const { fence } = (await marks().findOneAndUpdate({ _id: { ...own.tenant, kind: 'product' } }, RAISE, {
      returnDocument: 'after',
    }))!;
    const atItsEnd = passes.hold({ apps: [own], look: OWNERS });
    others.release();
    await atItsEnd.isHeld();
    await own.put('product', { id: 'late', lastupdated: fence });
    atItsEnd.release();
    await passes.together();
    const late = await products().findOne({ ...own.tenant, id: 'late' });
    expect((late!['lastupdated'] as Date).getTime()).toBeGreaterThan(fence.getTime());
  });
});

describe('a pass over everything leaves large applications to passes of their own', () => {
  const MANY = { small: 5, large: 3000, larger: 18_000 };
  const records = (tenant: object, count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...tenant, id: `p-${n}`, lastupdated: OLD, data: { n } }));

  it('the smallest first, and the others are shown before', async () => {
    const fresh = await TestService.start();
    const apps = await Promise.all([fresh.application(), fresh.application(), fresh.application()]);
    const [small, large, larger] = apps;
    await fresh.leave();
    const { db } = fresh;
    for (const name of ['leases', 'ledger', 'marks']) await db.collection(`tidemark.${name}`).deleteMany({});
    for (const [app, count] of [
      [larger, MANY.larger],
      [large, MANY.large],
      [small, MANY.small],
    ] as const)
      await db.collection('products').insertMany(records(app.tenant, count));
    const told = await passesTold(db, async () => {
      const service = await fresh.another();
      await service.watcher.caughtUp();
      await eventually(
        async () => (await db.collection('tidemark.leases').findOne({}))?.['aside']?.length === 0,
      );
      await service.leave();
    });
    expect([told[0], told.at(-1)]).toEqual([[large.appid, larger.appid], []]);
    const living = await db.collection('tidemark.ledger').countDocuments({ alive: true });
    expect(living).toBe(MANY.small + MANY.large + MANY.larger);
    expect(await db.collection('products').countDocuments({ lastupdated: OLD })).toBe(living);

    await fresh.stop();
  });

  /** The applications whose pass was still to come or under way, each time that these changed after the pass over all others. */
  async function passesTold(db: mongo.Db, work: () => Promise<void>): Promise<string[][]> {
    const changes = db.collection<WatchState>('tidemark.leases').watch([], { fullDocument: 'updateLookup' });
    await changes.tryNext();
    await work();
    const told: string[][] = [];
    for (let change = await changes.tryNext(); change !== null; change = await changes.tryNext()) {
      if (change.operationType !== 'update') continue;
      const { aside, since } = change.updateDescription.updatedFields ?? {};
      if (aside === undefined || (told.length === 0 && since === undefined)) continue;
      const passing = aside.filter((one) => one.pass !== undefined).map(({ appid }) => appid);
      if (JSON.stringify(passing) !== JSON.stringify(told.at(-1))) told.push(passing);
    }
    await changes.close();
    return told;
  }
});
