import { type Connection, mongo } from 'mongoose';
import { ReadSlots } from '../../../../../src/replication/feed/page/read-slots.js';

const LARGE = 10_000;
const SMALL = 100;
const gone = new AbortController().signal;

/** Reads of pages with a connection pool of this size; a read ends when the test says so. What has begun is in its order. */
function readsWith(maxPoolSize: number) {
  const client = new mongo.MongoClient('mongodb://127.0.0.1', { maxPoolSize });
  const places = new ReadSlots({ getClient: () => client } as unknown as Connection);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, owner: string, limit: number) =>
    void places.read({ limit, owner, gone }, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, ask, end, places };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n + 1}`);

it('one credential has four large pages read at a time, however many it asks for, and others begin at once', async () => {
  const { begun, ask, end } = readsWith(100);
  for (const name of many(150)) ask(name, 'a', LARGE);
  ask('b1', 'b', LARGE);
  expect(begun).toEqual([...many(4), 'b1']);
  await end('a2');
  expect(begun.slice(5)).toEqual(['a5']);
});

it('small pages do not wait for large ones, not even those of the same credential', () => {
  const { begun, ask } = readsWith(100);
  for (const name of many(150)) ask(name, 'a', LARGE);
  ask('small of a', 'a', SMALL);
  ask('small of b', 'b', SMALL);
  expect(begun.slice(4)).toEqual(['small of a', 'small of b']);
});

it('of those that wait, the credential that has the fewest goes first', async () => {
  const { begun, ask, end } = readsWith(8);
  for (const name of many(10)) ask(name, 'a', LARGE);
  for (const name of ['b1', 'b2']) ask(name, 'b', LARGE);
  ask('c1', 'c', LARGE);
  expect(begun).toEqual(many(4));
  for (const name of many(4)) await end(name);
  expect(begun.slice(4)).toEqual(['b1', 'c1', 'a5', 'a6']);
});

it('of small pages that wait as well', async () => {
  const { begun, ask, end } = readsWith(4);
  for (const name of many(10)) ask(name, 'a', SMALL);
  ask('b1', 'b', SMALL);
  expect(begun).toEqual(many(3));
  await end('a3');
  expect(begun.slice(3)).toEqual(['b1']);
});

it('a read that waits for something else gives its slots to others, and goes on once it has them again', async () => {
  const { begun, ask, end, places } = readsWith(8);
  let come = () => {};
  const something = new Promise<void>((resolve) => (come = resolve));
  const waiting = Array.from({ length: 4 }, (_, index) =>
    places.read({ limit: LARGE, owner: `w${index}`, gone }, async (slot) => {
      await slot.without(() => something);
      begun.push('after');
    }),
  );
  for (const name of many(6)) ask(name, name, LARGE);
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(many(4));
  come();
  for (const name of many(6)) await end(name);
  await Promise.all(waiting);
  expect(begun).toEqual([...many(6), ...Array<string>(4).fill('after')]);
});

it('a read whose reader is gone while it waits for something else takes no slot again', async () => {
  const { begun, ask, end, places } = readsWith(2);
  const leaving = new AbortController();
  const left = places.read({ limit: SMALL, owner: 'a', gone: leaving.signal }, (slot) =>
    slot.without(() => {
      ask('b1', 'b', SMALL);
      leaving.abort(new Error('gone'));
      return Promise.resolve();
    }),
  );
  await expect(left).rejects.toThrow('gone');
  ask('c1', 'c', SMALL);
  expect(begun).toEqual(['b1']);
  await end('b1');
  expect(begun).toEqual(['b1', 'c1']);
});
