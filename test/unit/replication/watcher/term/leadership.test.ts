import { NO_TERM, TermOverError } from '../../../../../src/replication/store/index.js';
import { Leadership } from '../../../../../src/replication/watcher/term/leadership.js';
import type { Term } from '../../../../../src/replication/watcher/term/stream-work.js';

/** A leader whose terms go on until the test ends them, and what each has discarded. */
function leadership(beginKinds: () => Promise<void> = () => Promise.resolve()) {
  const ends: (() => void)[] = [];
  const discarded: string[] = [];
  const nothing = () => Promise.resolve();
  const begin = () => new Promise<undefined>((resolve) => ends.push(() => resolve(undefined)));
  const parts = [
    { begin },
    {},
    {},
    { leave: () => discarded.push('services') },
    { beginTerm: () => undefined },
    { reset: () => discarded.push('counts') },
    { run: nothing },
    { end: nothing },
    { beginTerm: beginKinds, goOn: () => undefined },
  ] as unknown as ConstructorParameters<typeof Leadership>;
  return { leadership: new Leadership(...parts), ends, discarded };
}

function term(): Term {
  return { ...NO_TERM, state: { term: 1 }, stop: new AbortController().signal } as unknown as Term;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('a term that ends discards what it has counted', async () => {
  const { leadership: leader, ends, discarded } = leadership();
  const led = leader.lead(term());
  await turn();
  discarded.splice(0);
  ends[0]!();
  await led;
  expect(discarded).toEqual(['counts', 'services']);
});

it('a term that was abandoned, and ends after the next one has begun, discards nothing of that one', async () => {
  const { leadership: leader, ends, discarded } = leadership();
  const abandoned = leader.lead(term());
  await turn();
  const next = leader.lead(term());
  await turn();
  discarded.splice(0);
  ends[0]!();
  await abandoned;
  expect(discarded).toEqual([]);
  ends[1]!();
  await next;
  expect(discarded).toEqual(['counts', 'services']);
});

it('a term that another instance ends before it has begun discards what an abandoned one has counted', async () => {
  let isOver = false;
  const begin = () => (isOver ? Promise.reject(new TermOverError()) : Promise.resolve());
  const { leadership: leader, ends, discarded } = leadership(begin);
  const abandoned = leader.lead(term());
  await turn();
  isOver = true;
  await expect(leader.lead(term())).rejects.toThrow(TermOverError);
  ends[0]!();
  await abandoned;
  expect(discarded).toContain('services');
});
