import { atOnce, type Steps, TimeSlice } from '../../../../src/platform/common/waiting.js';

/** Time passes only where a test lets it. */
let now: number;
beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

/** Work of so many steps, each of which takes so long (milliseconds). */
function* work(steps: number, ms: number): Steps<string> {
  for (let step = 0; step < steps; step += 1) {
    now += ms;
    yield;
  }
  return 'done';
}

/** How often others had a turn while something was done. */
async function turnsDuring(task: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(turn);
  };
  setImmediate(turn);
  await task();
  isOver = true;
  return turns;
}

describe('a slice of time', () => {
  it.each([
    [100, 1, 20],
    [100, 5, 100],
    [10, 50, 10],
    [4, 1, 0],
  ])('%i steps of %i ms let others have a turn %i times', async (steps, ms, turns) => {
    const counted = await turnsDuring(async () =>
      expect(await new TimeSlice().take(work(steps, ms))).toBe('done'),
    );
    expect(counted).toBe(turns);
  });

  it('goes on through several pieces of work', async () => {
    const counted = await turnsDuring(async () => {
      const slice = new TimeSlice();
      for (let piece = 0; piece < 10; piece += 1) await slice.take(work(1, 1));
    });
    expect(counted).toBe(2);
  });

  it('is of one work at a time, however many there are', async () => {
    const counted = await turnsDuring(() =>
      Promise.all(Array.from({ length: 20 }, () => new TimeSlice().take(work(10, 5)))),
    );
    // The first step of each was done when they began.
    expect(counted).toBeGreaterThanOrEqual(20 * 9);
  });

  it('ends with what the work throws', async () => {
    function* failing(): Steps<never> {
      yield;
      throw new Error('of the work');
    }
    await expect(new TimeSlice().take(failing())).rejects.toThrow('of the work');
  });

  it('is not needed where the work is done at once', () => {
    expect(atOnce(work(100, 5))).toBe('done');
  });
});
