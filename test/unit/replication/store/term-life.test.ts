import {
  NO_TERM,
  type TermAtWork,
  TermLife,
  TermOverError,
} from '../../../../src/replication/store/term-life.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Work of one step that takes a while. */
async function work(term: TermAtWork): Promise<void> {
  await Promise.resolve();
  term.showLife();
}

it('each step of the work ends the silence of its own term, and of no other', async () => {
  const [one, other] = [new TermLife(), new TermLife()];
  jest.advanceTimersByTime(5000);
  await work(one);
  expect(one.silence).toBe(0);
  expect(other.silence).toBe(5000);
});

it('what was left behind by a term that is over ends with its next step', async () => {
  const [one, next] = [new TermLife(), new TermLife()];
  const leftBehind = work(one);
  one.end();
  await expect(leftBehind).rejects.toThrow(TermOverError);
  await expect(work(next)).resolves.toBeUndefined();
});

it('what is left behind ends no silence', async () => {
  const life = new TermLife();
  jest.advanceTimersByTime(5000);
  life.end();
  await expect(work(life)).rejects.toThrow(TermOverError);
  expect(life.silence).toBe(5000);
});

it('outside of a term there is no life to show', async () => {
  await expect(work(NO_TERM)).resolves.toBeUndefined();
});
