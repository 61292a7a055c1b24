import { mongo } from 'mongoose';
import { Ledger, Quarantine } from '../../src/replication/store/index.js';
import { setAsideFromOutside } from '../../src/replication/store/plain.js';
import { QuarantineRetry } from '../../src/replication/watcher/index.js';
import { gate, type Held } from './own-pass.js';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';

const MANY = 300;
const MIXED = 100;
/** By so much the clock of the server is set back meanwhile (milliseconds). */
const CORRECTED_MS = 60_000;

let service: TestService;
let app: TestApplication;
let other: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  other = await service.application();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await release();
});
afterAll(() => service.stop());

const quarantine = () => service.db.collection('tidemark.quarantine');
const setAside = () => quarantine().countDocuments();
const products = () => service.db.collection('products');

/** The ledger takes no `id` that begins with `y` or `z`. */
const hinder = () => validate({ id: { $not: { $regex: '^[yz]' } } });

async function validate(validator: object): Promise<void> {
  await service.db.command({ collMod: 'tidemark.ledger', validator });
}

/** The ledger takes everything, and what was set aside is looked after. */
async function release(): Promise<void> {
  await validate({});
  await eventually(async () => (await setAside()) === 0);
  await service.watcher.caughtUp();
}

/** Everything that is told to a copy that was kept from the beginning on: what it holds in the end. */
class Copy {
  private readonly held = new Map<string, Date>();
  private from: Date | undefined;

  constructor(private readonly of: TestApplication) {}

  async harvest(): Promise<string[]> {
    const to = await this.of.max('product');
    const window = { to, ...(this.from && { from: this.from }) };
    for (const { id, lastupdated } of await this.of.feed('product').drain(window))
      if (!(this.held.get(id)! > new Date(lastupdated!))) this.held.set(id, new Date(lastupdated!));
    for (const { id, lastUpdated } of await this.of.hardDeletes('product').drain(window))
      if (!(this.held.get(id)! > new Date(lastUpdated!))) this.held.delete(id);
    this.from = to;
    return [...this.held.keys()].sort();
  }
}

/** What the record becomes behind `y`, and what a copy holds in the end. */
const ENDS: [string, (record: Stored) => Promise<unknown>, string[], string[]][] = [
  ['renamed', ({ _id }) => products().updateOne({ _id }, { $set: { id: 'w' } }), ['w'], []],
  [
    'renamed to what the ledger refuses too',
    ({ _id }) => products().updateOne({ _id }, { $set: { id: 'z' } }),
    ['z'],
    [],
  ],
  ['deleted', ({ _id }) => products().deleteOne({ _id }), [], []],
  [
    'moved to another application',
    ({ _id }) => products().updateOne({ _id }, { $set: other.tenant }),
    [],
    ['y'],
  ],
  ['moved, and deleted', (record) => moved(record), [], []],
  ['without an `id`, and deleted', (record) => withoutId(record), [], []],
];

async function moved({ _id }: Stored): Promise<void> {
  await products().updateOne({ _id }, { $set: other.tenant });
  await service.watcher.caughtUp();
  await new Copy(other).harvest();
  await products().deleteOne({ _id });
}

async function withoutId({ _id }: Stored): Promise<void> {
  await products().updateOne({ _id }, { $unset: { id: '' } });
  await products().deleteOne({ _id });
}

/** A record that was x, that the ledger refuses as y, and a copy that was shown y. */
async function shownAsY(): Promise<{ copy: Copy; record: Stored }> {
  const copy = new Copy(app);
  const record = await app.product({ id: 'x' });
  await copy.harvest();
  await hinder();
  await products().updateOne({ _id: record._id }, [{ $set: { id: 'y', lastupdated: '$$NOW' } }]);
  await service.watcher.caughtUp();
  await app.product({ id: 'beside' });
  await service.watcher.caughtUp();
  expect(await copy.harvest()).toContain('y');
  return { copy, record };
}

describe('a record that was x became y, which the ledger refused, and was shown so', () => {
  it.each(ENDS)('then it is %s: no copy holds y in the end', async (_what, change, here, there) => {
    const copies = [new Copy(app), new Copy(other)];
    const record = await app.product({ id: 'x' });
    await copies[0]!.harvest();
    await copies[1]!.harvest();
    await hinder();
    await products().updateOne({ _id: record._id }, [{ $set: { id: 'y', lastupdated: '$$NOW' } }]);
    await service.watcher.caughtUp();
    await app.product({ id: 'beside' });
    await service.watcher.caughtUp();
    expect(await copies[0]!.harvest()).toContain('y');
    await change(record);
    await service.watcher.caughtUp();
    for (const copy of copies) await copy.harvest();
    await release();
    expect(await Promise.all(copies.map((copy) => copy.harvest()))).toEqual([['beside', ...here], there]);
  });

  it('then another record becomes y: it lives', async () => {
    const { copy, record } = await shownAsY();
    await products().deleteOne({ _id: record._id });
    await app.product({ id: 'y' });
    await service.watcher.caughtUp();
    await release();
    expect(await copy.harvest()).toEqual(['beside', 'y']);
  });

  it('then it is renamed, and a term that was given up writes that another one lives there, which is gone', async () => {
    const { copy, record } = await shownAsY();
    await products().updateOne({ _id: record._id }, { $set: { id: 'w' } });
    await service.db
      .collection('tidemark.ledger')
      .insertOne(
        { ...app.tenant, kind: 'product', id: 'y', alive: true, owner: new mongo.ObjectId(), learned: '' },
        { bypassDocumentValidation: true },
      );
    await service.watcher.caughtUp();
    await release();
    expect(await copy.harvest()).toEqual(['beside', 'w']);
  });
});

/** What becomes of a record that is looked after, and what a copy holds of it in the end. */
const MEANWHILE: [string, (record: Stored) => Promise<unknown>, string[]][] = [
  ['deleted', ({ _id }) => products().deleteOne({ _id }), []],
  ['renamed', ({ _id }) => products().updateOne({ _id }, { $set: { id: 'w' } }), ['w']],
  ['moved to another application', ({ _id }) => products().updateOne({ _id }, { $set: other.tenant }), []],
];

describe('a record changes between the look at the clock and that at the quarantine, and the clock is set back', () => {
  it.each(MEANWHILE)('it is %s: no copy holds what it was in the end', async (_what, change, held) => {
    const quarantined = service.app.get(Quarantine, { strict: false });
    const due = quarantined.due.bind(quarantined);
    const looks = jest.spyOn(quarantined, 'due').mockResolvedValue([]);
    const copy = new Copy(app);
    await hinder();
    const record = await app.product({ id: 'y' });
    await service.watcher.caughtUp();
    await app.product({ id: 'beside' });
    await service.watcher.caughtUp();
    expect(await copy.harvest()).toEqual(['beside', 'y']);
    await validate({});
    const meanwhile = jest.fn(async (clock: Date, most: number) => {
      looks.mockRestore();
      await change(record);
      await service.watcher.caughtUp();
      return due(new Date(clock.getTime() + CORRECTED_MS), most);
    });
    looks.mockImplementation(meanwhile);
    await eventually(async () => (await setAside()) === 0);
    expect(meanwhile).toHaveBeenCalledTimes(1);
    await service.watcher.caughtUp();
    expect(await copy.harvest()).toEqual(['beside', ...held]);
  });
});

/** Holds back the next call of a method until it is released. */
function heldOnce<T extends object>(of: T, method: keyof T & string): Held {
  const held = gate();
  const call = (of[method] as (...asked: unknown[]) => Promise<unknown>).bind(of);
  jest
    .spyOn(of as Record<string, () => Promise<unknown>>, method)
    .mockImplementationOnce(async (...asked) => {
      await held.held();
      return call(...asked);
    });
  return held;
}

it('a retry that a pass over everything overtakes settles nothing: its record may be gone, and no event has told', async () => {
  const { copy, record } = await shownAsY();
  const look = heldOnce(service.app.get(QuarantineRetry, { strict: false }), 'maintain');
  // While the ledger still refuses it: a retry that had begun before would settle it.
  await look.isHeld();
  await validate({});
  const pass = heldOnce(service.app.get(Ledger, { strict: false }), 'countLiving');
  await service.db.collection('tidemark.heads').drop();
  await pass.isHeld();
  await products().deleteOne({ _id: record._id });
  pass.release();
  await service.watcher.caughtUp();
  look.release();
  await release();
  expect(await copy.harvest()).toEqual(['beside']);
});

it('a record stays set aside after a look at the quarantine: its next event waits with it', async () => {
  const { record } = await shownAsY();
  const quarantined = service.app.get(Quarantine, { strict: false });
  const due = quarantined.due.bind(quarantined);
  const found = jest.fn();
  jest.spyOn(quarantined, 'due').mockImplementation(async (...asked) => {
    found(await due(...asked));
    return [];
  });
  await eventually(() => Promise.resolve(found.mock.calls.length > 0));
  await products().updateOne({ _id: record._id }, { $set: { id: 'w' } });
  await service.watcher.caughtUp();
  expect(await quarantine().findOne({ '_id.owner': record._id })).toMatchObject({ events: 2 });
});

describe('many that cannot be worked through cost nobody else anything', () => {
  it('a few are found by halves, the others are set aside with them; all leave together', async () => {
    const copy = new Copy(app);
    await service.watcher.caughtUp();
    await hinder();
    const times = jest.spyOn(service.app.get(Quarantine, { strict: false }), 'setAsideEvents');
    await app.products(MANY, (n) => ({ id: `y${n}` }));
    const { id } = await other.product();
    await service.watcher.caughtUp();
    expect((await other.feed('product').page()).ids).toEqual([id]);
    expect(await setAside()).toBe(MANY);
    expect(times.mock.calls.length).toBeLessThan(MANY / 10);
    const settled = jest.spyOn(service.app.get(Quarantine, { strict: false }), 'settle');
    await release();
    expect(settled.mock.calls.length).toBeLessThan(MANY / 10);
    expect(await copy.harvest()).toHaveLength(MANY);
  });

  it('what is in order among them leaves the quarantine, although the others cannot', async () => {
    await service.watcher.caughtUp();
    await hinder();
    await app.products(MIXED, (n) => ({ id: n % 10 === 0 ? `a${n}` : `y${n}` }));
    await service.watcher.caughtUp();
    const learned = () =>
      service.db.collection('tidemark.ledger').countDocuments({ ...app.tenant, id: /^a/, alive: true });
    await eventually(async () => (await learned()) === MIXED / 10);
    await eventually(async () => (await setAside()) === MIXED - MIXED / 10);
  });
});

it('a retry settles no refused record that has changed since the retry read it', async () => {
  const { _id } = await app.product({ id: 'refused' });
  await service.watcher.caughtUp();
  const retry = heldOnce(service.app.get(QuarantineRetry, { strict: false }), 'maintain');
  await setAsideFromOutside(service.db, [
    { concern: { what: 'record', kind: 'product', owner: _id }, reason: 'refused' },
  ]);
  service.app.get(Quarantine, { strict: false }).expectEntries();
  await retry.isHeld();
  const read = await quarantine().findOne({ '_id.owner': _id });
  expect(read).toMatchObject({ events: 0 });
  await products().deleteOne({ _id });
  await service.watcher.caughtUp();
  const now = await quarantine().findOne({ '_id.owner': _id });
  const settled = jest.spyOn(service.app.get(Quarantine, { strict: false }), 'settle');
  retry.release();
  await eventually(async () => (await setAside()) === 0);
  expect(now!['entry']).not.toEqual(read!['entry']);
  // The first retry has settled nothing, so another one followed.
  expect(settled.mock.calls.length).toBeGreaterThan(1);
});
