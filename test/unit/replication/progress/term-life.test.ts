import { during, TermLife, showLife, TermOverError } from '../../../../src/replication/progress/term-life.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('each step of the work ends the silence of its own term, and of no other', async () => {
  const [one, other] = [new TermLife(), new TermLife()];
  jest.advanceTimersByTime(5000);
  await during(one, async () => {
    await Promise.resolve();
    showLife();
  });
  expect(one.silence).toBe(0);
  expect(other.silence).toBe(5000);
});

it('what was left behind by a term that is over ends with its next step', async () => {
  const life = new TermLife();
  const work = during(life, async () => {
    await Promise.resolve();
    showLife();
  });
  life.end();
  await expect(work).rejects.toThrow(TermOverError);
});

it('outside of a term there is no life to show', () => {
  expect(showLife).not.toThrow();
});
