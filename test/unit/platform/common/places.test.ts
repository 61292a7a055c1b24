import { Semaphore } from '../../../../src/platform/common/concurrency.js';

const here = new AbortController().signal;

/** Work that ends when the test says so, by its name; what has begun is noted in its order. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      begun.push(name);
      ends.set(name, resolve);
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, end };
}

it('so many work at a time, the others come in the order of their asking', async () => {
  const { begun, work, end } = works();
  const places = new Semaphore(2);
  const all = ['a', 'b', 'c', 'd'].map((name) => places.during(here, work(name)));
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await Promise.all([end('c'), end('d')]);
  await Promise.all(all);
  await Promise.all([places.during(here, () => end('e')), places.during(here, () => end('f'))]);
});

it('who fails gives its place on', async () => {
  const { begun, work } = works();
  const places = new Semaphore(1);
  const failed = places.during(here, () => Promise.reject(new Error('broken')));
  void places.during(here, work('next'));
  await expect(failed).rejects.toThrow('broken');
  expect(begun).toEqual(['next']);
});

it('who is gone waits no longer, and takes no place', async () => {
  const { begun, work, end } = works();
  const places = new Semaphore(1);
  const gone = new AbortController();
  void places.during(here, work('first'));
  const left = places.during(gone.signal, work('left'));
  void places.during(here, work('second'));
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(places.during(gone.signal, work('late'))).rejects.toThrow('gone');
  await end('first');
  expect(begun).toEqual(['first', 'second']);
});

it('a free place goes to the owner who has the fewest, whoever asked before', async () => {
  const { begun, work, end } = works();
  const places = new Semaphore(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void places.during(here, work(name), 'a');
  for (const name of ['b1', 'b2']) void places.during(here, work(name), 'b');
  void places.during(here, work('c1'), 'c');
  expect(begun).toEqual(['a1', 'a2', 'a3']);
  for (const name of ['a1', 'a2', 'a3']) await end(name);
  expect(begun.slice(3)).toEqual(['b1', 'c1', 'a4']);
  for (const name of ['c1', 'b1', 'a4']) await end(name);
  expect(begun.slice(6)).toEqual(['a5', 'b2']);
});

it('one owner has no more than its part, and waits while places are free', async () => {
  const { begun, work, end } = works();
  const places = new Semaphore(5, 2);
  for (const name of ['a1', 'a2', 'a3']) void places.during(here, work(name), 'a');
  for (const name of ['b1', 'b2', 'b3']) void places.during(here, work(name), 'b');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2']);
  await end('b1');
  await end('a2');
  expect(begun.slice(4)).toEqual(['b3', 'a3']);
});

it('an owner who is gone while it waits leaves its turn to the next', async () => {
  const { begun, work, end } = works();
  const places = new Semaphore(2, 1);
  const gone = new AbortController();
  void places.during(here, work('a1'), 'a');
  const left = places.during(gone.signal, work('a2'), 'a');
  void places.during(here, work('a3'), 'a');
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await end('a1');
  expect(begun).toEqual(['a1', 'a3']);
});
