import { mongo } from 'mongoose';
import { type Identity, type Life, markKey, RAISE } from '../../src/replication/protocol/index.js';
import {
  IncompleteIdentities,
  Ledger,
  HeadWriter,
  NO_TERM,
  TermOverError,
} from '../../src/replication/store/index.js';
import { Resurrections, Audit } from '../../src/replication/watcher/index.js';
import { type Stored, type TestApplication, TestService, withoutWatcher } from '../support/index.js';
import { ContractCopy } from './copy.js';
import { inOneBatch } from './in-one-batch.js';

let service: TestService;
let app: TestApplication;
let copy: ContractCopy;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  copy = new ContractCopy(app, 'product');
  jest.spyOn(service.app.get(Audit, { strict: false }), 'step').mockResolvedValue(60_000);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const ID = 12;
const products = () => service.db.collection('products');
const entries = () => service.db.collection('tidemark.ledger');
const entry = () => ({ ...app.tenant, kind: 'product', id: String(ID) });
const put = (id: unknown, n: number) => app.put('product', { id, data: { n } });
const change = (n: number, fields: object) =>
  products().updateOne({ organizationid: app.organizationid, 'data.n': n }, { $set: fields });
const remove = (n: number) => products().deleteOne({ ...app.tenant, 'data.n': n });

/** The leader ends once, between the effects of the batch in which the text dies and the token. Answers how often. */
function endsBeforeTheToken(): () => number {
  const heads = service.app.get(HeadWriter, { strict: false });
  const write = heads.write.bind(heads);
  let times = 0;
  jest.spyOn(heads, 'write').mockImplementation(async (...asked) => {
    await write(...asked);
    if (times > 0 || (await entries().countDocuments({ ...entry(), alive: false })) === 0) return;
    times += 1;
    throw new TermOverError();
  });
  return () => times;
}

/** A term learns that a record under the `id` was born and died, as of a place. */
async function diesAsOf(at: string): Promise<void> {
  const identity = { ...app.tenant, kind: 'product', id: String(ID) } satisfies Identity;
  const death = { identity, at, alive: false as const, shortLived: true };
  await service.app.get(Ledger, { strict: false }).learn([death]);
}

/** What a consumer holds that has followed all the while: a tombstone brings the number back when the watcher sees it. */
async function held(): Promise<unknown> {
  await service.watcher.caughtUp();
  await service.watcher.caughtUp();
  return copy.harvest();
}

describe('a batch that is repeated brings a number back that waited in it', () => {
  const comes: [string, () => Promise<unknown>][] = [
    ['comes', () => put(ID, 1)],
    [
      'is renamed',
      async () => {
        await change(2, { id: ID });
        await change(2, { 'data.n': 1 });
      },
    ],
  ];
  const ends: [string, () => Promise<unknown>, string[]][] = [
    ['is deleted', () => remove(0), []],
    ['is renamed', () => change(0, { id: 'other' }), ['other']],
    ['leaves the application', () => change(0, { appid: 'elsewhere' }), []],
  ];
  const cases = comes.flatMap(([coming, come]) =>
    ends.map(([ending, end, others]) => ({ coming, come, ending, end, others })),
  );

  it.each(cases)('a number $coming, and the text $ending', async ({ come, end, others }) => {
    await put(String(ID), 0);
    await put('before', 2);
    await held();
    let times: () => number = () => 0;
    await inOneBatch(app, async () => {
      times = endsBeforeTheToken();
      await come();
      await end();
    });
    const after = (await held()) as Record<string, unknown>;
    expect(times()).toBe(1);
    expect(after[String(ID)]).toBe(1);
    expect(Object.keys(after)).toEqual(expect.arrayContaining(others));
    await products().deleteOne({ ...app.tenant, id: ID });
    expect(await held()).not.toHaveProperty(String(ID));
  });
});

describe('a record that has its `id` as a text and then as a number in one batch, under a hard delete', () => {
  const MORE_THAN_A_BATCH = 100;
  const fillers = () =>
    Array.from({ length: MORE_THAN_A_BATCH }, (_, n) => ({
      ...{ organizationid: app.organizationid, appid: 'filler', id: `g${n}` },
    }));
  /** A moment between the two changes shows the record with the text. */
  const becomesTextThenNumber = async () => {
    await change(1, { id: String(ID), lastupdated: new Date() });
    await service.db
      .collection<{ _id: object }>('tidemark.marks')
      .updateOne({ _id: markKey({ ...app.tenant, kind: 'product' }) }, RAISE);
    await change(1, { id: ID });
  };
  const gone = async (from: Date) =>
    (await app.hardDeletes('product').drain({ from })).map(({ id }) => id).sort();

  beforeEach(async () => {
    await put(String(ID), 0);
    await put('before', 1);
    await held();
    await remove(0);
    await held();
  });

  it('is a hard delete again where it is deleted before the watcher looks', async () => {
    const from = await app.max('product');
    await inOneBatch(app, async () => {
      await becomesTextThenNumber();
      await products().insertMany(fillers());
      await remove(1);
    });
    await service.watcher.caughtUp();
    expect(await gone(from)).toEqual([String(ID), 'before']);
    expect(await held()).toEqual({});
  });

  it('is delivered where it stays', async () => {
    await inOneBatch(app, becomesTextThenNumber);
    expect(await held()).toEqual({ [String(ID)]: 1 });
    await remove(1);
    expect(await held()).toEqual({});
  });
});

it('a record that owns the `id` as a text is not shown with it as a number beside the text that has come meanwhile', async () => {
  await put(String(ID), 1);
  await held();
  const marks = service.db.collection<{ _id: object; fence: Date }>('tidemark.marks');
  const mark = { _id: markKey({ ...app.tenant, kind: 'product' }) };
  await withoutWatcher(service, async () => {
    await change(1, { id: 'other', lastupdated: new Date() });
    await put(String(ID), 2);
    await change(1, { id: ID, lastupdated: new Date() });
    await marks.updateOne(mark, RAISE);
  });
  await service.watcher.caughtUp();
  const to = (await marks.findOne(mark))!.fence;
  const shown = await app.feed('product').drain({ to });
  expect(shown.map(({ id, data }) => [id, data])).toEqual([[String(ID), { n: 2 }]]);
  expect(await held()).toEqual({ [String(ID)]: 2 });
});

describe('what lived there has ended as of a later place than that of the look', () => {
  it('a number comes back that a term which was given up has ended late, with a death of another record', async () => {
    const { _id: owner } = await put(ID, 1);
    await held();
    const known = await entries().findOne({ ...entry(), alive: true, owner });
    await diesAsOf(known!['learned'] as string);
    expect(await held()).toEqual({ [ID]: 1 });
    expect(await entries().findOne(entry())).toMatchObject({ alive: true, owner, isNumber: true });
    expect(await entries().countDocuments({ ...entry(), number: { $exists: true } })).toBe(0);
    await remove(1);
    expect(await held()).toEqual({});
  });

  it('so does one whose `id` a text has taken over, late as well, and given up', async () => {
    const { _id: owner } = await put(ID, 1);
    await held();
    const at = (await entries().findOne({ ...entry(), alive: true, owner }))!['learned'] as string;
    const identity = { ...app.tenant, kind: 'product', id: String(ID) } satisfies Identity;
    const text: Life = { identity, at, alive: true, owner: new mongo.ObjectId(), afterDeath: true };
    const ledger = service.app.get(Ledger, { strict: false });
    const revived = await ledger.learn([text]);
    await ledger.revive(revived);
    await ledger.learn([{ identity, at, alive: false, shortLived: false }]);
    expect(await held()).toEqual({ [ID]: 1 });
    expect(await entries().findOne(entry())).toMatchObject({ alive: true, owner, isNumber: true });
  });

  it('a number moves to another application as what it is, not as what it waited for once', async () => {
    const other = await service.application({ organizationid: app.organizationid });
    const { _id: owner } = await put(ID, 1);
    await held();
    const known = await entries().findOne({ ...entry(), alive: true, owner });
    const partial = { ...app.tenant, id: '7', isNumber: true as const, learned: '1' };
    await service.app.get(IncompleteIdentities, { strict: false }).keep('product', [{ owner, partial }]);
    await diesAsOf(known!['learned'] as string);
    await change(1, { appid: other.appid });
    expect(await held()).toEqual({});
    expect(await new ContractCopy(other, 'product').harvest()).toEqual({ [ID]: 1 });
  });

  /** A record that nothing is known of, under an `id` whose tombstone is of a later place, and was seen already. */
  async function unknownBehindTombstone(): Promise<Stored> {
    const record = await put(ID, 1);
    await service.watcher.caughtUp();
    const known = await entries().findOne(entry());
    await entries().deleteOne(entry());
    await diesAsOf(known!['learned'] as string);
    await service.watcher.caughtUp();
    return record;
  }

  it('a number that was looked at has the `id`', async () => {
    const { _id: owner } = await unknownBehindTombstone();
    const identity = { ...app.tenant, kind: 'product' as const, id: String(ID) };
    await service.app
      .get(Resurrections, { strict: false })
      .learnSeen('product', [{ identity, owner, at: '1', alive: true, isNumber: true }], NO_TERM);
    expect(await held()).toEqual({ [ID]: 1 });
    expect(await entries().findOne(entry())).toMatchObject({ alive: true, owner, isNumber: true });
    await remove(1);
    expect(await held()).toEqual({});
  });
});

it('what has ended since its record is gone is not learned once more by a term that was given up', async () => {
  const identity = { ...app.tenant, kind: 'product', id: String(ID) } satisfies Identity;
  const gone: Life = { identity, at: '5', alive: true, owner: new mongo.ObjectId() };
  await service.app.get(Ledger, { strict: false }).learn([gone]);
  const resurrections = service.app.get(Resurrections, { strict: false });
  await resurrections.endVacant(
    'product',
    [{ owner: new mongo.ObjectId().toHexString(), identity }],
    gone.at,
  );
  expect(await entries().findOne(entry())).toMatchObject({ alive: false });
  await resurrections.learn('product', [gone], new Map(), NO_TERM);
  expect(await entries().findOne(entry())).toMatchObject({ alive: false });
});

it('a number that lives under its own identity does not wait, although the ledger knows it of a later place', async () => {
  const identity = { ...app.tenant, kind: 'product', id: String(ID) } satisfies Identity;
  const life: Life = { identity, at: '5', alive: true, owner: new mongo.ObjectId(), isNumber: true };
  const ledger = service.app.get(Ledger, { strict: false });
  expect(await ledger.learn([life])).toEqual([]);
  expect(await ledger.learn([{ ...life, at: '4' }])).toEqual([]);
  const another = { ...life, at: '4', owner: new mongo.ObjectId() };
  expect(await ledger.learn([another])).toEqual([another]);
});
