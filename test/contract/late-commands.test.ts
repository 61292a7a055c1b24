import type { mongo } from 'mongoose';
import { markKey, RAISE } from '../../src/replication/protocol/index.js';
import { IncompleteIdentities, Ledger, NO_TERM, Quarantine } from '../../src/replication/store/index.js';
import {
  IncompleteReview,
  Resurrections,
  QuarantineRetries,
  Audit,
} from '../../src/replication/watcher/index.js';
import {
  eventually,
  Gate,
  type Stored,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { ContractCopy } from './copy.js';

/** The instance that leads, behind a way that holds its commands, and the one that leads after it. */
let gate: Gate;
let first: TestService;
let second: TestService;
let app: TestApplication;
let other: TestApplication;
let third: TestApplication;

beforeEach(async () => {
  const service = await TestService.start();
  const applications = await Promise.all([1, 2, 3].map(() => service.application()));
  gate = await Gate.to(service.uri);
  await gate.open();
  await service.leave();
  first = await service.another({ MONGODB_URI: gate.uri });
  second = await first.another();
  [app, other, third] = applications.map((one) => one.seenBy(second)) as [typeof app, typeof app, typeof app];
});
afterEach(async () => {
  jest.restoreAllMocks();
  gate.release();
  await first.leave();
  await gate.shut();
  await second.stop();
});

const products = () => second.db.collection('products');
const setAside = () => second.db.collection('tidemark.quarantine').countDocuments();
const leads = async (service: TestService) => (await service.metric('tidemark_watcher_leads')) === 1;

/** The ledger takes no `id` that begins with `y` or `z`. */
const hinder = () => validate({ id: { $not: { $regex: '^[yz]' } } });
const validate = (validator: object) => second.db.command({ collMod: 'tidemark.ledger', validator });

/** The term is over, as when it is given up, and the other instance leads. What is held of it is still on its way. */
async function handOver(to = second): Promise<void> {
  await leases().updateOne({ _id: 'watcher' }, { $set: FREE, $inc: { term: 1 } });
  await eventually(() => leads(to));
}
const FREE = { holder: 'nobody', expires: new Date(0) };
const leases = () => second.db.collection<{ _id: string; term: number }>('tidemark.leases');

const isWrite = (name: string, collection: string) => (request: Buffer) =>
  request.includes(`${name}\0`) && request.includes(`${collection}\0`);

const becomes = ({ _id }: Stored, set: mongo.Document) =>
  products().updateOne({ _id }, [{ $set: { ...set, lastupdated: '$$NOW' } }]);

/** What a leader does beside the stream waits until that is called which is answered. */
function holdJobs({ app: instance }: TestService): () => void {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  for (const type of [QuarantineRetries, Audit]) {
    const job = instance.get<QuarantineRetries | Audit>(type, { strict: false });
    const step = job.step.bind(job);
    jest.spyOn(job, 'step').mockImplementation(async (...given: Parameters<Audit['step']>) => {
      await begun;
      return step(...given);
    });
  }
  return begin;
}

describe('the quarantine', () => {
  it('a late removal of what was looked after leaves what was set aside since', async () => {
    const settle = jest.spyOn(first.app.get(Quarantine, { strict: false }), 'settle');
    const copy = new ContractCopy(app, 'product');
    await hinder();
    const record = await app.product({ id: 'y', data: { n: 1 } });
    await second.watcher.caughtUp();
    gate.hold(isWrite('delete', 'tidemark.quarantine'));
    await validate({});
    await eventually(() => gate.holding > 0);
    await handOver();
    await eventually(async () => (await setAside()) === 0);
    await hinder();
    await becomes(record, { id: 'z' });
    expect(await copy.harvest()).toHaveProperty('z');
    expect(await setAside()).toBe(1);
    gate.release();
    await settle.mock.results[0]!.value;
    await validate({});
    await products().deleteOne({ _id: record._id });
    await second.watcher.caughtUp();
    await eventually(async () => (await setAside()) === 0);
    expect(await copy.harvest()).toEqual({});
  });

  it('a term follows what an earlier one set aside from its first event on', async () => {
    const copy = new ContractCopy(other.seenBy(first), 'product');
    const record = await app.product({ id: 'x', data: { n: 1 } });
    await second.watcher.caughtUp();
    await eventually(() => !first.app.get(Quarantine, { strict: false }).mayHaveEntries);
    await handOver();
    await eventually(async () => !(await leads(first)));
    await hinder();
    await becomes(record, { ...other.tenant, id: 'y' });
    await second.watcher.caughtUp();
    expect(await setAside()).toBe(1);
    const begin = holdJobs(first);
    await second.leave();
    await eventually(() => leads(first));
    await validate({});
    await becomes(record, { id: 'w' });
    expect(await copy.harvest()).toEqual({ w: 1 });
    await becomes(record, third.tenant);
    expect(await copy.harvest()).toEqual({ w: 1 });
    begin();
    await eventually(async () => (await setAside()) === 0);
    expect(await copy.harvest()).toEqual({});
  });

  it('what a term that was given up sets aside late is looked after', async () => {
    const setting = jest.spyOn(first.app.get(Quarantine, { strict: false }), 'setAsideEvents');
    await hinder();
    gate.hold(isWrite('update', 'tidemark.quarantine'));
    await app.product({ id: 'y', data: { n: 1 } });
    await eventually(() => gate.holding > 0);
    await validate({});
    await handOver();
    await second.watcher.caughtUp();
    await eventually(() => !second.app.get(Quarantine, { strict: false }).mayHaveEntries);
    expect(await setAside()).toBe(0);
    gate.release();
    await setting.mock.results[0]!.value;
    expect(await setAside()).toBe(1);
    await eventually(async () => (await setAside()) === 0);
  });

  it('what a look of an earlier term did not find may be there in the next', async () => {
    await withoutWatcher([first, second], async () => {
      const quarantine = first.app.get(Quarantine, { strict: false });
      const looked = quarantine.due(new Date(), 1);
      quarantine.beginTerm();
      expect(await looked).toEqual([]);
      expect(quarantine.mayHaveEntries).toBe(true);
    });
  });
});

describe('incomplete identities', () => {
  const reviewOf = ({ app: instance }: TestService) => instance.get(IncompleteReview, { strict: false });
  const reviewed = async (service: TestService) => {
    for (let slice = 0; slice < 6; slice += 1) await reviewOf(service).step(new AbortController().signal);
  };
  const known = () => second.db.collection('tidemark.incompleteidentities').find().toArray();

  it('what is forgotten of one record leaves what is known of another', async () => {
    await withoutWatcher([first, second], async () => {
      const ledger = first.app.get(Ledger, { strict: false });
      const incomplete = first.app.get(IncompleteIdentities, { strict: false });
      const numbers = [await app.product({ id: 5 }), await app.product({ id: 7 })];
      const lives = numbers.map(({ _id: owner, id }) => ({
        identity: { ...app.tenant, kind: 'product' as const, id: String(id) },
        ...{ owner, at: '1', alive: true as const, isNumber: true as const },
      }));
      const entries = second.db.collection('tidemark.ledger');
      for (const { identity } of lives)
        await entries.insertOne({ ...identity, alive: false, lastupdated: new Date(), learned: '0' });
      const ownedBy = ledger.ownedBy.bind(ledger);
      const asked = jest.spyOn(ledger, 'ownedBy').mockImplementation(async (...given) => {
        if (given[1].length < numbers.length) return ownedBy(...given);
        asked.mockRestore();
        const partial = { ...app.tenant, id: '9', isNumber: true as const, learned: '2' };
        await incomplete.keep('product', [{ owner: numbers[0]!._id, partial }]);
        await entries.updateOne(lives[1]!.identity, { $set: { learned: '3' } });
        return ownedBy(...given);
      });
      await first.app.get(Resurrections, { strict: false }).learnSeen('product', lives, NO_TERM);
      expect(await known()).toMatchObject([{ _id: { owner: numbers[0]!._id }, id: '9' }]);
    });
  });

  it.each<[string, (record: Stored) => Promise<unknown>]>([
    ['is another one by then', (record) => becomes(record, { id: 'w' })],
    ['is gone by then', ({ _id }) => products().deleteOne({ _id })],
  ])(
    'a rival that a term which was given up has remembered late, and that %s, does not count',
    async (_what, end) => {
      const keep = jest.spyOn(first.app.get(IncompleteIdentities, { strict: false }), 'keep');
      const leadersOwn = jest.spyOn(reviewOf(second), 'step').mockResolvedValue(60_000);
      await app.product({ id: '5' });
      await second.watcher.caughtUp();
      keep.mockClear();
      gate.hold(isWrite('update', 'tidemark.incompleteidentities'));
      const rival = await app.product({ id: 5 });
      await eventually(() => gate.holding > 0);
      await handOver();
      await second.watcher.caughtUp();
      expect(await known()).toHaveLength(1);
      await end(rival);
      await second.watcher.caughtUp();
      expect(await known()).toEqual([]);
      gate.release();
      await eventually(() => keep.mock.results.length > 0);
      await Promise.all(keep.mock.results.map(({ value }) => value as Promise<void>));
      expect(await known()).toHaveLength(1);
      leadersOwn.mockRestore();
      await reviewed(second);
      expect(await known()).toEqual([]);
      expect(await second.metric('tidemark_ignored_records{kind="product"}')).toBe(0);
    },
  );

  it('a record that waits is not forgotten', async () => {
    await app.product({ id: '5' });
    await app.product({ id: 5 });
    await app.product({ appid: 5 });
    await second.watcher.caughtUp();
    await reviewed(first);
    expect(await known()).toHaveLength(2);
  });
});

describe('e-mails that wait', () => {
  it('a late removal of a member that waited leaves that it waits again', async () => {
    const members = second.db.collection('members');
    const [holding, waiting] = [await app.member(mail('one')), await app.member(mail('one'))];
    await second.watcher.caughtUp();
    gate.hold(isWrite('delete', 'tidemark.emailduplicates'));
    await members.updateOne({ _id: waiting._id }, { $set: mail('two') });
    await eventually(() => gate.holding > 0);
    await handOver();
    await second.watcher.caughtUp();
    await members.updateOne({ _id: waiting._id }, { $set: mail('one') });
    await second.watcher.caughtUp();
    expect(await second.db.collection('tidemark.emailduplicates').countDocuments()).toBe(1);
    gate.release();
    await eventually(() => gate.holding === 0);
    await second.db.command({ ping: 1 });
    await app.remove('member', holding);
    await second.watcher.caughtUp();
    expect(await members.findOne({ _id: waiting._id })).toMatchObject({ emailkey: 'one@example.com' });
  });

  const mail = (name: string) => ({ data: { accountnumber: '1', email: `${name}@example.com` } });
});

describe('a term that is cut off between two writes of the ledger', () => {
  /** Batches grow with each other: what follows these comes in one. */
  const SMALL_BATCHES = 75;

  /** Raises the mark of the products as any instance does, and answers its fence. */
  async function raise(): Promise<Date> {
    const marks = second.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
    const _id = markKey({ ...app.tenant, kind: 'product' });
    return (await marks.findOneAndUpdate({ _id }, RAISE, { upsert: true, returnDocument: 'after' }))!.fence;
  }

  it.each<[string, object, () => object]>([
    ['the ledger knows only', { appid: 5, id: 'z' }, () => other.tenant],
    ['only is remembered', { id: 'x' }, () => ({ appid: 5 })],
  ])(
    'what a record was on its way leaves a tombstone, though what it became %s',
    async (_what, was, becoming) => {
      const { insertedId: _id } = await products().insertOne({ ...app.tenant, ...was, data: {} });
      await second.watcher.caughtUp();
      await second.leave();
      let fence = new Date(0);
      await withoutWatcher(first, async () => {
        const fillers = Array.from({ length: SMALL_BATCHES }, (_, n) => ({ ...third.tenant, id: `f${n}` }));
        await products().insertMany(fillers);
        await becomes({ _id }, { ...app.tenant, id: 'z' });
        fence = await raise();
        await becomes({ _id }, becoming());
        gate.hold((sent) => isWrite('update', 'tidemark.ledger')(sent) && sent.includes(app.appid));
      });
      await eventually(() => gate.holding > 0);
      const next = await first.listening();
      try {
        await handOver(next);
        await next.watcher.caughtUp();
        const seen = app.seenBy(next);
        expect((await seen.feed('product').drain({ to: fence })).map(({ id }) => id)).toEqual(['z']);
        expect((await seen.hardDeletes('product').drain()).map(({ id }) => id)).toContain('z');
      } finally {
        await next.app.close();
      }
    },
  );
});
