import { Turns } from '../../../src/auth/passwords.js';
import { Problem } from '../../../src/platform/http/index.js';

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise(setImmediate);

const unended = new Map<string, () => void>();
/** What a test leaves unended holds its timer. */
afterEach(async () => {
  while (unended.size > 0) {
    for (const [name, end] of unended) {
      unended.delete(name);
      end();
    }
    await settled();
  }
});

/** A queue, and what has begun in it, by name. Each goes on until the test ends it. */
function queue() {
  const turns = new Turns();
  const begun: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string, rank: number) => {
    const work = () => {
      begun.push(name);
      return new Promise<void>((resolve) => {
        ends.set(name, resolve);
        unended.set(name, resolve);
      });
    };
    turns.take(rank, work).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.slug !== 'too-many-logins') throw error;
      refused.push(name);
    });
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { turns, begun, refused, enter, end };
}

it('two run at a time, one of them only for who has not failed: one guess at a time, from however many addresses', async () => {
  const { begun, enter, end } = queue();
  for (const name of ['a', 'b', 'c']) enter(name, 2);
  expect(begun).toEqual(['a']);
  enter('good', 1);
  enter('better', 1);
  expect(begun).toEqual(['a', 'good']);
  await end('a');
  expect(begun).toEqual(['a', 'good', 'better']);
  await end('good');
  expect(begun).toEqual(['a', 'good', 'better']);
  await end('better');
  expect(begun).toEqual(['a', 'good', 'better', 'b']);
});

it('the smallest rank goes first, and among the same who came first', async () => {
  const { begun, enter, end } = queue();
  enter('first', 2);
  for (const [name, rank] of [['x', 5], ['y', 3], ['z', 5], ['u', 3]] as const) enter(name, rank); // oxfmt-ignore
  for (const name of ['first', 'y', 'u', 'x']) await end(name);
  expect(begun).toEqual(['first', 'y', 'u', 'x', 'z']);
});

it('the queue has an end: beyond it 429, where nobody worse makes way', async () => {
  const { turns, begun, refused, enter, end } = queue();
  for (let count = 0; count < 65; count += 1) enter(`guess-${count}`, 4);
  await settled();
  expect(refused).toEqual([]);
  expect(() => turns.assertRoom(4)).toThrow('429');
  enter('one more', 4);
  await settled();
  expect(refused).toEqual(['one more']);
  turns.assertRoom(3);
  enter('better', 3);
  await settled();
  expect(refused).toEqual(['one more', 'guess-64']);
  await end('guess-0');
  expect(begun).toEqual(['guess-0', 'better']);
});

it('work that fails makes way as well', async () => {
  const turns = new Turns();
  await expect(turns.take(2, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.take(2, () => Promise.resolve('b'))).toBe('b');
});

it('nobody waits longer than five seconds', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { begun, refused, enter, end } = queue();
    enter('endless', 2);
    enter('late', 2);
    await jest.advanceTimersByTimeAsync(4999);
    expect(refused).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(refused).toEqual(['late']);
    await end('endless');
    expect(begun).toEqual(['endless']);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
