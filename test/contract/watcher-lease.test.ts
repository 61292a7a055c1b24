import { mongo } from 'mongoose';
import { APP_NAME } from '../../src/platform/database/index.js';
import { Lease } from '../../src/replication/watcher/index.js';
import { eventually, Gate, type TestApplication, TestService } from '../support/index.js';

interface LeaseDocument {
  _id: string;
  holder: string;
  term: number;
  expires: Date;
  token: unknown;
  watched: mongo.Timestamp;
}

let first: TestService;
let second: TestService;
let app: TestApplication;

beforeEach(async () => {
  first = await TestService.start();
  second = await first.another();
  app = await first.application();
});

const leases = () => first.db.collection<LeaseDocument>('tidemark.leases');
async function lease(): Promise<LeaseDocument> {
  const [found, ...others] = await leases().find().toArray();
  if (found === undefined || others.length > 0) throw new Error('There must be exactly one lease');
  return found;
}
const leads = async (service: TestService) => (await service.metric('tidemark_watcher_leads')) === 1;
const change = (update: mongo.UpdateFilter<LeaseDocument>) => leases().updateOne({ _id: 'watcher' }, update);

/** Asserts that deletes reach `harddeletes`, so somebody leads and works. */
async function assertWatched(service: TestService): Promise<void> {
  const product = await app.product();
  await service.watcher.caughtUp();
  await app.remove('product', product);
  const page = await app.seenBy(service).hardDeletes('product').page();
  expect(page.ids).toContain(product['id']);
}

describe('several instances: exactly one leads', () => {
  afterEach(async () => {
    await first.leave();
    await second.stop();
  });

  it('the first one that came, and both serve what it watches', async () => {
    const { term } = await lease();
    await assertWatched(first);
    await assertWatched(second);
    expect([await leads(first), await leads(second)]).toEqual([true, false]);
    expect((await lease()).term).toBe(term);
  });

  it('an instance that does not know the storage format in force leads no more, and takes no free lease', async () => {
    const { term } = await lease();
    await change({ $set: { format: 99 } });
    await eventually(async () => !(await leads(first)));
    await change({ $set: { expires: new Date(0) } });
    expect(await second.app.get(Lease, { strict: false }).acquire()).toBeUndefined();
    expect((await lease()).term).toBe(term);
    await change({ $set: { format: 1 } });
    await eventually(async () => (await lease()).term > term);
  });

  it('it renews the lease for as long as it leads', async () => {
    const { holder, expires } = await lease();
    await eventually(async () => (await lease()).expires > expires);
    expect((await lease()).holder).toBe(holder);
  });

  it('`watched` moves on an idle server too', async () => {
    const { watched } = await lease();
    await eventually(async () => (await lease()).watched.compare(watched) > 0);
  });

  it('a leader whose term is over stops leading and moves neither token nor `watched`', async () => {
    await first.watcher.caughtUp();
    await change({ $set: { holder: 'somebody else' }, $inc: { term: 1 } });
    const taken = await lease();
    await app.product();
    await eventually(async () => !(await leads(first)));
    expect(await lease()).toEqual(taken);
    expect(await leads(second)).toBe(false);
  });

  it('a lease whose holder is gone is taken by another once it has run out, not before', async () => {
    await change([
      { $set: { holder: 'gone', term: { $add: ['$term', 1] }, expires: { $add: ['$$NOW', 1500] } } },
    ]);
    const { expires, term } = await lease();
    await eventually(async () => (await lease()).holder !== 'gone');
    const [{ clock } = { clock: new Date(0) }] = await leases()
      .aggregate<{ clock: Date }>([{ $project: { clock: '$$NOW' } }])
      .toArray();
    expect(clock.getTime()).toBeGreaterThanOrEqual(expires.getTime());
    expect((await lease()).term).toBe(term + 1);
    await assertWatched(first);
  });
});

describe('the database’s clock was ahead and has been put right: expiry is judged by an own clock', () => {
  const AN_HOUR = 3_600_000;
  const ahead = { $add: ['$$NOW', AN_HOUR] };
  afterEach(async () => {
    await first.leave();
    await second.stop();
  });

  it('a lease that nobody renews is taken, however far ahead it ends', async () => {
    await change([{ $set: { holder: 'gone', term: { $add: ['$term', 1] }, expires: ahead } }]);
    await eventually(async () => (await lease()).holder !== 'gone');
    await assertWatched(first);
  });

  it('a leader that renews one keeps it, since each renewal changes it', async () => {
    const { term } = await lease();
    await change([{ $set: { expires: ahead } }]);
    const ends = new Set<number>();
    await eventually(async () => ends.add((await lease()).expires.getTime()).size > 6);
    expect((await lease()).term).toBe(term);
    await assertWatched(second);
  });
});

describe('e-mail is unique: what a leader must know of it does not depend on who led before', () => {
  afterEach(async () => {
    await first.leave();
    await second.stop();
  });

  /** Takes the lease away until the wanted instance has it: which one is quicker is a matter of luck. */
  async function untilLed(isWanted: (holder: string) => boolean): Promise<void> {
    await eventually(async () => {
      await change({ $set: { holder: 'nobody', expires: new Date(0) }, $inc: { term: 1 } });
      await eventually(async () => (await lease()).holder !== 'nobody');
      return isWanted((await lease()).holder);
    });
  }

  it('a freed e-mail goes to the member that waits, though another leader noted that it waits', async () => {
    const { holder: one } = await lease();
    const members = first.db.collection('members');
    const data = { accountnumber: '1', email: 'same@example.com' };
    const holding = await app.member({ data });
    await first.watcher.caughtUp();
    await untilLed((holder) => holder !== one);
    const waiting = await app.member({ data });
    await first.watcher.caughtUp();
    expect(await members.findOne({ _id: waiting._id })).not.toHaveProperty('emailkey');
    await untilLed((holder) => holder === one);
    await app.remove('member', holding);
    await first.watcher.caughtUp();
    expect(await members.findOne({ _id: waiting._id })).toHaveProperty('emailkey', data.email);
  });
});

describe('on SIGTERM or SIGINT the service releases the lease', () => {
  afterEach(() => second.stop());

  it('the other one takes over at once, in the next term, and goes on where the first one was', async () => {
    const [product, kept] = [await app.product(), await app.product()];
    await first.watcher.caughtUp();
    const before = await lease();
    await first.leave();
    await app.change('product', kept, { $set: { 'data.while': 'nobody led' } });
    await second.db.collection('products').deleteOne({ _id: product._id });
    await eventually(() => leads(second));
    await second.watcher.caughtUp();
    expect(await lease()).toMatchObject({ term: before.term + 1 });
    expect((await lease()).holder).not.toBe(before.holder);
    const seen = app.seenBy(second);
    expect((await seen.hardDeletes('product').page()).ids).toEqual([product['id']]);
  });

  it('the lease is free when the instance is gone', async () => {
    await second.leave();
    await first.leave();
    expect((await lease()).expires.getTime()).toBe(0);
  });

  it('so it is when an instance took it while it was stopping', async () => {
    await first.leave();
    await second.leave();
    const { term } = await lease();
    const gate = await Gate.to(first.uri);
    await gate.open();
    gate.hold((request) => request.includes('findAndModify'));
    const late = await second.listening({ MONGODB_URI: gate.uri });
    await eventually(() => gate.holding > 0);
    const left = late.leave();
    expect((await lease()).term).toBe(term);
    gate.release();
    await left;
    expect(await lease()).toMatchObject({ term: term + 1, expires: new Date(0) });
    await gate.shut();
  });
});

it('a transaction that a killed leader has left open holds nobody up', async () => {
  const product = await app.product({ id: 'held' });
  await first.watcher.caughtUp();
  await second.leave();
  await first.leave();
  const leader = await new mongo.MongoClient(first.uri, { appName: APP_NAME }).connect();
  const session = leader.startSession();
  session.startTransaction();
  const ledger = leader.db().collection('tidemark.ledger');
  await ledger.updateOne({ ...app.tenant, id: 'held' }, { $set: { held: true } }, { session });
  await first.db.collection('products').deleteOne({ _id: product._id });
  const next = await first.another();
  await next.watcher.caughtUp();
  expect((await app.seenBy(next).hardDeletes('product').page()).ids).toEqual(['held']);
  await session.endSession();
  await leader.close();
  await next.stop();
});
