import { setTimeout as wait } from 'node:timers/promises';
import mongoose, { type Connection } from 'mongoose';
import type { RawFind } from '../../../../../src/replication/feed/query/raw-find.js';
import { matching } from '../../../../../src/replication/feed/query/selection.js';
import { WindowLists } from '../../../../../src/replication/feed/query/window-lists.js';
import { ReadSlots } from '../../../../../src/replication/feed/page/read-slots.js';
import { eventually } from '../../../../support/index.js';
import { SLOT } from '../stored.js';

const { BSON, MongoServerError, ObjectId, Timestamp } = mongoose.mongo;
const MANY = 10_000_000;
const IDS = 1_000_000;
const selection = matching({ organizationid: 'acme', appid: 'shop' }, 'product');
const window = (minute: number) => ({
  ...{
    selection,
    from: new Date(minute * 60_000),
    to: new Date(10_000_000),
    at: new Timestamp({ t: 1, i: 1 }),
  },
});

/** Documents with an `_id` and nothing else, as the database projects them; copies of one do. */
const documents = BSON.serialize({ 0: { _id: new ObjectId() } });

/** Lists over windows, each read as `replies` says; what was asked is counted. */
function listsOf(
  replies: (call: number) => AsyncGenerator<Uint8Array, void>,
  aboutHowMany = () => Promise.resolve(MANY),
) {
  let calls = 0;
  const finds = {
    aboutHowMany,
    async *all() {
      calls += 1;
      for await (const reply of replies(calls)) yield { documents: reply, cursorId: 0n };
    },
  };
  return { lists: new WindowLists(finds as unknown as RawFind), calls: () => calls };
}

/** Begins as any other, and fails then. */
const failing = (code: number) =>
  async function* () {
    yield await Promise.resolve(documents);
    throw new MongoServerError({ message: 'no', code });
  };

async function* one() {
  yield await Promise.resolve(documents);
}

it('a list that finds no room is still what its callers wait for', async () => {
  const all = BSON.serialize({ ...Array.from({ length: IDS / 10 }, () => ({ _id: new ObjectId() })) });
  const { lists } = listsOf(async function* () {
    for (let part = 0; part < 10; part += 1) yield await Promise.resolve(all);
  });
  const found = await Promise.all([1, 2, 3, 4, 5, 6].map((minute) => lists.list(window(minute), SLOT)));
  expect(found.map((list) => list?.length)).toEqual(Array.from(found, () => IDS));
}, 60_000);

it('a window whose list takes too long is not listed, and not tried again at once', async () => {
  const { lists, calls } = listsOf(failing(50));
  expect([await lists.list(window(1), SLOT), await lists.list(window(1), SLOT), calls()]).toEqual([
    undefined,
    undefined,
    1,
  ]);
});

it('a list that was cut off is read once more, and no more often', async () => {
  const again = listsOf((call) => (call === 1 ? failing(43)() : one()));
  expect([(await again.lists.list(window(1), SLOT))?.length, again.calls()]).toEqual([1, 2]);
  const never = listsOf(failing(43));
  await expect(never.lists.list(window(1), SLOT)).rejects.toThrow('no');
  expect(never.calls()).toBe(2);
});

it('where the collection cannot be counted in time nothing is listed, and the next window counts again', async () => {
  jest.useFakeTimers();
  let counts = 0;
  const count = () => ((counts += 1) === 1 ? new Promise<number>(() => undefined) : Promise.resolve(MANY));
  const { lists } = listsOf(one, count);
  const first = lists.list(window(1), SLOT);
  await jest.advanceTimersByTimeAsync(2500);
  expect(await first).toBeUndefined();
  expect(await lists.list(window(2), SLOT)).toHaveLength(1);
  expect(counts).toBe(2);
  jest.useRealTimers();
});

describe('the lists of large windows', () => {
  const LARGE = 20_000;
  const large = BSON.serialize({ ...Array.from({ length: LARGE }, () => ({ _id: new ObjectId() })) });
  const gone = new AbortController().signal;

  /** The read slots of a connection pool of this size. */
  function slotsOf(maxPoolSize: number): ReadSlots {
    const client = new mongoose.mongo.MongoClient('mongodb://127.0.0.1', { maxPoolSize });
    return new ReadSlots({ getClient: () => client } as unknown as Connection);
  }

  /** Lists with two replies each. The second reply comes after `goOn` is called. */
  function heldLists(firstOf: (call: number) => Uint8Array) {
    const held: (() => void)[] = [];
    const { lists } = listsOf(async function* (call) {
      yield await Promise.resolve(firstOf(call));
      await new Promise<void>((resolve) => held.push(resolve));
      yield firstOf(call);
    });
    /** Resolves when as many lists wait for their second reply, and shows that no others have begun. */
    const areHeld = async (count: number) => {
      await eventually(() => held.length >= count);
      await wait(20);
      expect(held).toHaveLength(count);
    };
    return { lists, held, areHeld };
  }

  it('are read two at a time: each needs up to 36 MB meanwhile', async () => {
    const { lists, held, areHeld } = heldLists(() => large);
    const found = [1, 2, 3].map((minute) => lists.list(window(minute), SLOT));
    await areHeld(2);
    held[0]!();
    expect(await found[0]).toHaveLength(2 * LARGE);
    await areHeld(3);
    for (const goOn of held) goOn();
    expect((await Promise.all(found)).map((list) => list?.length)).toEqual(Array(3).fill(2 * LARGE));
  });

  it('do not hold up those of small windows, whose first reply is not full', async () => {
    const { lists, held, areHeld } = heldLists((call) => (call <= 2 ? large : documents));
    const found = [1, 2, 3, 4, 5].map((minute) => lists.list(window(minute), SLOT));
    await areHeld(5);
    for (const goOn of held) goOn();
    expect((await Promise.all(found)).map((list) => list?.length)).toEqual([2 * LARGE, 2 * LARGE, 2, 2, 2]);
  });

  it('leave the slots of reads to other pages, also those of pages that wait for the same list', async () => {
    const { lists, held, areHeld } = heldLists(() => large);
    const slots = slotsOf(4);
    const listed = (minute: number, owner: string, limit: number) =>
      slots.read({ limit, owner, gone }, (slot) => lists.list(window(minute), slot));
    const found = [1, 2, 3, 4, 1, 2, 3, 4].map((minute, index) => listed(minute, `${index}`, 10_000));
    await areHeld(2);
    expect(await slots.read({ limit: 1, owner: 'other', gone }, () => Promise.resolve('read'))).toBe('read');
    for (let listing = 0; listing < 4; listing += 1) {
      await eventually(() => held.length > listing);
      held[listing]!();
    }
    expect((await Promise.all(found)).map((list) => list?.length)).toEqual(Array(8).fill(2 * LARGE));
  });

  it('do not wait for other pages of the credential that asked first: the list is for all', async () => {
    const { lists, held, areHeld } = heldLists(() => large);
    const slots = slotsOf(100);
    const found = [1, 2].map((minute) =>
      slots.read({ limit: 10_000, owner: 'a', gone }, (slot) => lists.list(window(minute), slot)),
    );
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const others = [1, 2, 3, 4].map(() => slots.read({ limit: 10_000, owner: 'a', gone }, () => ended));
    await areHeld(2);
    for (const goOn of held) goOn();
    end();
    await Promise.all(others);
    expect((await Promise.all(found)).map((list) => list?.length)).toEqual(Array(2).fill(2 * LARGE));
  });

  it('wait for a bounded time: 503 `busy`', async () => {
    const { lists, held } = heldLists(() => large);
    lists.patienceMs = 50;
    const found = [1, 2].map((minute) => lists.list(window(minute), SLOT));
    await expect(lists.list(window(3), SLOT)).rejects.toMatchObject({ slug: 'busy' });
    for (const goOn of held) goOn();
    await Promise.all(found);
    const again = lists.list(window(3), SLOT);
    await eventually(() => held.length === 3);
    held[2]!();
    expect(await again).toHaveLength(2 * LARGE);
  });
});
