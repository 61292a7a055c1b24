import type { mongo } from 'mongoose';
import { isMomentGone, readAsOf } from '../../src/platform/database/index.js';
import { Ledger } from '../../src/replication/store/index.js';
import type { AsideApplication, WatchState } from '../../src/replication/protocol/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

const MANY = 1200;

let service: TestService;
let bulky: TestApplication;
let other: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  bulky = await service.application();
  other = await service.application();
  await other.put('product', { id: 'known' });
  await other.max('product');
  await bulky.max('product');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await history(300);
});
afterAll(() => service.stop());

const products = () => service.db.collection<mongo.Document>('products');
const leases = () => service.db.collection<WatchState>('tidemark.leases');

const many = (app: TestApplication) =>
  Array.from({ length: MANY }, (_, n) => ({
    ...{ ...app.tenant, id: `many-${n}`, type: 'product', lastupdated: new Date(), data: { n } },
  }));

const aside = async (): Promise<AsideApplication[]> => (await leases().findOne({}))?.aside ?? [];
const isAside = async (app: TestApplication) =>
  (await aside()).some(({ appid }) => appid === app.tenant.appid);

/**
 * Holds back what the ledger learns of an application: while a bulk is being written, so that the log has more than is read, and
 * from when it is aside until it is released.
 */
function held(app: TestApplication, written: Promise<unknown>): () => void {
  const ledger = service.app.get(Ledger, { strict: false });
  const learn = ledger.learn.bind(ledger);
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  jest.spyOn(ledger, 'learn').mockImplementation(async (changes) => {
    if (changes.some(({ identity }) => identity.appid === app.tenant.appid)) {
      await written;
      if (await isAside(app)) await released;
    }
    return learn(changes);
  });
  return release;
}

async function together(): Promise<void> {
  await service.watcher.caughtUp();
  await eventually(async () => (await aside()).length === 0);
  await service.watcher.caughtUp();
}

/** Deletes most records of an application, until it is aside, where it is held back; answers how far consumers had read before. */
async function putAside(app: TestApplication): Promise<{ release: () => void; from: Date }> {
  await products().insertMany(many(app));
  await together();
  const from = await app.max('product');
  let end!: () => void;
  const release = held(app, new Promise<void>((resolve) => (end = resolve)));
  await products().deleteMany({ ...app.tenant, 'data.n': { $gte: 20 } });
  end();
  await eventually(() => isAside(app));
  return { release, from };
}

const history = (seconds: number) =>
  service.client.db('admin').command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds });

/** Writes on until the server holds nothing any more of what it held before. */
async function forgotten(): Promise<void> {
  const { operationTime } = await service.db.command({ ping: 1 });
  const look = () =>
    readAsOf(service.client, operationTime as mongo.Timestamp, (snapshot) =>
      products().findOne({}, snapshot),
    );
  await history(1);
  await eventually(async () => {
    await other.put('product', {});
    return look().then(() => false, isMomentGone);
  });
}

const idsOf = (items: { id: unknown }[]) => items.map(({ id }) => id).sort();
const kept = many({ tenant: {} } as TestApplication)
  .filter(({ data }) => data.n < 20)
  .map(({ id }) => id)
  .sort();
const GONE = MANY - 20;

async function expectAllOf(app: TestApplication, from: Date): Promise<void> {
  expect((await app.hardDeletes('product').drain({ from })).length).toBe(GONE);
  expect(idsOf(await app.feed('product').drain())).toEqual(kept);
}

describe('an application whose bulk would hold up others', () => {
  it('is worked through beside them, and with them again after that', async () => {
    const { release, from } = await putAside(bulky);
    const fromOther = await other.max('product');
    await other.put('product', { id: 'fresh' });
    await products().deleteOne({ ...other.tenant, id: 'known' });
    expect((await other.feed('product').page({ from: fromOther })).ids).toEqual(['fresh']);
    expect((await other.hardDeletes('product').page({ from: fromOther })).ids).toEqual(['known']);
    expect(await isAside(bulky)).toBe(true);
    const [{ done, total }] = (await aside()) as [AsideApplication];
    expect(done).toBe(0);
    expect(total).toBeGreaterThan(0);
    release();
    await together();
    await expectAllOf(bulky, from);
  });

  it('is worked through where the index of owners is missing, and nothing is set aside', async () => {
    const { release, from } = await putAside(bulky);
    await service.db.collection('tidemark.ledger').dropIndex('kind_1_owner_1__id_1');
    release();
    await together();
    await expectAllOf(bulky, from);
    expect(await service.db.collection('tidemark.quarantine').countDocuments()).toBe(0);
  });

  it('gets and loses records that are moved meanwhile', async () => {
    const { release, from } = await putAside(bulky);
    const fromOther = await other.max('product');
    const moved = { ...bulky.tenant, 'data.n': { $lt: 10 } };
    await products().updateMany(moved, { $set: other.tenant });
    await products().updateOne({ ...other.tenant, id: 'known' }, { $set: bulky.tenant });
    expect((await other.feed('product').drain({ from: fromOther })).length).toBe(10);
    expect((await other.hardDeletes('product').page({ from: fromOther })).ids).toEqual(['known']);
    expect(await isAside(bulky)).toBe(true);
    release();
    await together();
    expect((await bulky.feed('product').page({ from })).ids).toEqual(['known']);
    expect((await bulky.hardDeletes('product').drain({ from })).length).toBe(GONE + 10);
  });

  it('goes on from its own place in the next term', async () => {
    const { release, from } = await putAside(bulky);
    await leases().updateOne({}, { $inc: { term: 1 }, $set: { expires: new Date(0) } });
    release();
    await together();
    await expectAllOf(bulky, from);
  });

  it('is worked through with all others in a pass, where history is lost', async () => {
    const { release, from } = await putAside(bulky);
    await service.db.collection('tidemark.heads').drop();
    release();
    await eventually(async () => (await leases().findOne({}))?.pass === undefined && !(await isAside(bulky)));
    await together();
    await expectAllOf(bulky, from);
  });

  it('gets a record of which the server does not hold the moment of its move any more', async () => {
    const { release, from } = await putAside(bulky);
    const { since } = (await leases().findOne({}))!;
    await products().updateOne({ ...other.tenant, id: 'known' }, { $set: bulky.tenant });
    await forgotten();
    release();
    await together();
    expect((await bulky.feed('product').page({ from })).ids).toEqual(['known']);
    expect((await bulky.hardDeletes('product').drain({ from })).length).toBe(GONE);
    expect((await leases().findOne({}))!.since).toEqual(since);
  });

  it('in a later term such a record leads to a pass', async () => {
    const { release, from } = await putAside(bulky);
    const { since } = (await leases().findOne({}))!;
    await products().updateOne({ ...other.tenant, id: 'known' }, { $set: bulky.tenant });
    await forgotten();
    await leases().updateOne({}, { $inc: { term: 1 }, $set: { expires: new Date(0) } });
    release();
    await eventually(async () => (await leases().findOne({}))?.since?.greaterThan(since!) === true);
    await together();
    expect((await bulky.hardDeletes('product').drain({ from })).length).toBe(GONE);
    expect(idsOf(await bulky.feed('product').drain())).toEqual(['known', ...kept]);
  });

  it.each<[string, unknown]>([
    ['no list', 'damaged'],
    ['an entry without its place', [{ organizationid: 'acme', appid: 'shop' }]],
    ['nothing in place of an entry', [null]],
  ])('where the lease names %s, a pass finds out what there is', async (_what, damaged) => {
    const from = await bulky.max('product');
    const { since } = (await leases().findOne({}))!;
    const change = {
      $inc: { term: 1 },
      $set: { expires: new Date(0), aside: damaged as AsideApplication[] },
    };
    await leases().updateOne({}, change);
    await bulky.put('product', { id: 'fresh' });
    await eventually(async () => (await leases().findOne({}))?.since?.greaterThan(since!) === true);
    await together();
    expect((await bulky.feed('product').page({ from })).ids).toEqual(['fresh']);
  });

  it('does not wait for another one that is aside', async () => {
    const another = await service.application();
    await another.max('product');
    const { release } = await putAside(bulky);
    const from = await another.max('product');
    await products().insertMany(many(another));
    await products().deleteMany({ ...another.tenant, 'data.n': { $gte: 20 } });
    const gone = another.hardDeletes('product');
    await eventually(async () => (await gone.drain({ from })).length === GONE);
    expect(idsOf(await another.feed('product').drain())).toEqual(kept);
    expect(await isAside(bulky)).toBe(true);
    release();
    await together();
  });
});
