import { mongo } from 'mongoose';
import type { LedgerEntry } from '../../src/replication/store/index.js';
import { placeAfter } from '../../src/replication/protocol/index.js';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { commandsDuring } from './profiler.js';

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;
const MANY = 2500;

let service: TestService;
let app: TestApplication;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
const ledger = () => service.db.collection<Partial<LedgerEntry>>('tidemark.ledger');
const query = (from: Date) => ({ from: from.toISOString(), to: '9999-01-01' });
const learned = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));

/** A tombstone as the watcher left it so many days ago. */
const tombstone = (id: string, days: number, more: Partial<LedgerEntry> = {}): Partial<LedgerEntry> => ({
  ...{ ...app.tenant, kind: 'product' as const, id, alive: false, lastupdated: daysAgo(days), learned },
  ...more,
});

async function idsLeft(tenant = app.tenant): Promise<string[]> {
  const entries = await ledger().find(tenant).toArray();
  return entries.map(({ id }) => id ?? '').sort();
}

/** Starts the service anew, and waits until its leader has gone through the tombstones. */
async function startAgain(days: number): Promise<void> {
  await service.watcher.caughtUp();
  await service.leave();
  service = await service.another({ TOMBSTONE_RETENTION_DAYS: String(days) });
  app = app.seenBy(service);
}

async function expired(count: number): Promise<void> {
  await eventually(async () => (await service.metric('tidemark_tombstones_expired_total')) >= count);
}

describe('tombstone retention (`TOMBSTONE_RETENTION_DAYS`)', () => {
  it('unless set, hard deletes are kept for ever', async () => {
    await ledger().insertOne(tombstone('ancient', 4000));
    await startAgain(0);
    const page = await app.hardDeletes('product').page({ from: daysAgo(5000) });
    expect(page.ids).toEqual(['ancient']);
    expect(await service.db.collection('tidemark.horizons').countDocuments()).toBe(0);
  });

  it('what is older is removed in every application and kind, and nothing else', async () => {
    const other = await service.application();
    const living = await app.product({ id: 'living' });
    await ledger().insertMany([
      ...[tombstone('old', 31), tombstone('older', 300), tombstone('young', 29)],
      tombstone('old member', 31, { kind: 'member' }),
      tombstone('older member', 40, { kind: 'member' }),
      tombstone('old elsewhere', 31, other.tenant),
      tombstone('young elsewhere', 1, other.tenant),
      tombstone('alive again', 31, { alive: true, owner: living._id }),
    ]);
    await startAgain(KEPT_DAYS);
    await expired(4);
    expect(await idsLeft()).toEqual(['alive again', 'living', 'old member', 'young']);
    expect(await idsLeft(other.tenant)).toEqual(['young elsewhere']);
    expect(await service.metric('tidemark_tombstones_expired_total')).toBe(4);
  });

  it('410 `history-expired`, on `harddeletes` with a `from` only, where `from` lies before what is kept', async () => {
    await ledger().insertMany([tombstone('old', 31), tombstone('young', 10)]);
    await startAgain(KEPT_DAYS);
    await expired(1);
    const feed = app.hardDeletes('product');
    expectProblem(await feed.ask(query(daysAgo(40))), 410, 'history-expired');
    expectProblem(await feed.ask(query(daysAgo(31.01))), 410, 'history-expired');
    expect((await feed.page({ from: daysAgo(29) })).ids).toEqual(['young']);
    expect((await feed.page()).ids).toEqual(['young']);
    expect((await app.feed('product').ask(query(daysAgo(40)))).status).toBe(200);
    expect((await app.softDeletes('product').ask(query(daysAgo(40)))).status).toBe(200);
  });

  it('nobody has to start over who has read everything, however long ago that was', async () => {
    const old = tombstone('old', 31);
    await ledger().insertMany([
      ...[old, tombstone('young', 1)],
      tombstone('of a member', 40, { kind: 'member' }),
      tombstone('another of a member', 35, { kind: 'member' }),
    ]);
    await startAgain(KEPT_DAYS);
    await expired(2);
    expect((await app.hardDeletes('product').ask(query(old.lastupdated!))).status).toBe(200);
    expect((await app.hardDeletes('member').ask(query(daysAgo(39)))).status).toBe(200);
  });

  it('an application whose mark MongoDB refuses to raise delays no other', async () => {
    const [first, last] = [app, await service.application()].sort((one, other) =>
      JSON.stringify(one.tenant) < JSON.stringify(other.tenant) ? -1 : 1,
    );
    for (const { tenant } of [first!, last!])
      await ledger().insertMany([tombstone('old', 31, tenant), tombstone('young', 1, tenant)]);
    const validator = { $nor: [{ '_id.appid': first!.tenant.appid }] };
    await service.db.createCollection('tidemark.marks').catch(() => undefined);
    await service.db.command({ collMod: 'tidemark.marks', validator });
    await startAgain(KEPT_DAYS);
    await expired(1);
    expect(await idsLeft(first!.tenant)).toEqual(['old', 'young']);
    expect(await idsLeft(last!.tenant)).toEqual(['young']);
  });

  it('a hard delete in quarantine, which still needs a new stamp, is kept', async () => {
    const aside = tombstone('set aside', 300);
    await ledger().insertMany([aside, tombstone('old', 31), tombstone('young', 1)]);
    await service.watcher.caughtUp();
    const entry = { events: 1, tries: 9, due: new Date(Date.now() + 250_000), reason: 'refused' };
    const { _id: owner } = (await ledger().findOne({ id: 'set aside' }))!;
    await service.db.collection<{ _id: object }>('tidemark.quarantine').insertOne({
      ...{ _id: { what: 'tombstone', owner }, entry: new mongo.ObjectId(), ...entry },
    });
    await startAgain(KEPT_DAYS);
    await expired(1);
    expect(await idsLeft()).toEqual(['set aside', 'young']);
  });

  it('hard deletes that are set aside are passed once, however many there are', async () => {
    const all = Array.from({ length: MANY }, (_, index) => tombstone(`aside-${index}`, 400 + index));
    const owners = Object.values((await ledger().insertMany(all)).insertedIds);
    await ledger().insertMany([tombstone('old', 31), tombstone('young', 1)]);
    await service.watcher.caughtUp();
    const entry = { events: 1, tries: 9, due: new Date(Date.now() + 250_000), reason: 'refused' };
    await service.db.collection<{ _id: object }>('tidemark.quarantine').insertMany(
      owners.map((owner) => ({
        ...{ _id: { what: 'tombstone', owner }, entry: new mongo.ObjectId(), ...entry },
      })),
    );
    const { db } = service;
    const commands = await commandsDuring(db, async () => {
      await startAgain(KEPT_DAYS);
      await expired(1);
    });
    const batches = commands.filter(
      ({ ns, command }) => ns.endsWith('.tidemark.ledger') && command['find'] && command['limit'] === 1000,
    );
    expect(batches.length).toBeGreaterThanOrEqual(3);
    for (const { keysExamined } of batches) expect(keysExamined).toBeLessThanOrEqual(1001);
    expect(await idsLeft()).toHaveLength(MANY + 1);
  });

  it('stays 410 where everything is kept again, since what is gone is gone', async () => {
    await ledger().insertMany([tombstone('old', 31), tombstone('young', 1)]);
    await startAgain(KEPT_DAYS);
    await expired(1);
    await startAgain(0);
    expectProblem(await app.hardDeletes('product').ask(query(daysAgo(40))), 410, 'history-expired');
  });

  it('is told before anything is removed, and goes in batches of at most 1,000', async () => {
    const entries = Array.from({ length: MANY }, (_, index) => tombstone(`old-${index}`, 31 + index));
    await ledger().insertMany(entries);
    await service.watcher.caughtUp();
    const changes = service.db.watch([
      {
        $match: {
          $or: [
            { 'ns.coll': 'tidemark.horizons' },
            { 'ns.coll': 'tidemark.ledger', operationType: 'delete' },
          ],
        },
      },
    ]);
    const first = changes.next();
    await startAgain(KEPT_DAYS);
    await expired(MANY - 1);
    expect(await first).toMatchObject({ ns: { coll: 'tidemark.horizons' } });
    await changes.close();
    expect(await idsLeft()).toEqual(['old-0']);
  });

  it('an `id` whose hard delete is gone can live and die again', async () => {
    await ledger().insertMany([tombstone('phoenix', 31), tombstone('young', 1)]);
    await startAgain(KEPT_DAYS);
    await expired(1);
    const before = await app.max('product');
    const product = await app.product({ id: 'phoenix' });
    await service.watcher.caughtUp();
    expect((await app.feed('product').page({ from: before })).ids).toEqual(['phoenix']);
    await app.remove('product', product);
    expect((await app.hardDeletes('product').page({ from: before })).ids).toEqual(['phoenix']);
  });
});

describe('whoever is told 410 can start over: the newest hard delete of each application and kind is never removed', () => {
  const startsOver = async () => {
    expectProblem(await app.hardDeletes('product').ask(query(daysAgo(100))), 410, 'history-expired');
    const max = await app.max('product');
    return (await app.hardDeletes('product').ask(query(max))).status;
  };

  it('in a quiet application, where all of them are expired', async () => {
    await ledger().insertMany([tombstone('newest', 31), tombstone('old', 40), tombstone('older', 50)]);
    await startAgain(KEPT_DAYS);
    await expired(2);
    expect(await startsOver()).toBe(200);
    expect(await idsLeft()).toEqual(['newest']);
  });

  it('where several have the greatest stamp', async () => {
    const lastupdated = daysAgo(31);
    const newest = ['a', 'b'].map((id) => tombstone(id, 31, { lastupdated }));
    await ledger().insertMany([...newest, tombstone('old', 40)]);
    await startAgain(KEPT_DAYS);
    await expired(1);
    expect(await startsOver()).toBe(200);
    expect((await app.hardDeletes('product').page({ from: daysAgo(35) })).ids).toEqual(['a', 'b']);
  });

  it('also where the newest lives again, and its record is given an old stamp', async () => {
    await ledger().insertMany([tombstone('newest', 31), tombstone('old', 40), tombstone('older', 50)]);
    await startAgain(KEPT_DAYS);
    await expired(2);
    const product = await app.product({ id: 'newest' });
    await service.watcher.caughtUp();
    await app.change('product', product, { $set: { lastupdated: daysAgo(60) } });
    await service.watcher.caughtUp();
    expect(await startsOver()).toBe(200);
  });
});
