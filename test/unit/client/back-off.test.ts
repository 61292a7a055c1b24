import fc from 'fast-check';
import { RETRIES, secondsOf, waitBefore } from '../../../client/src/http/back-off.js';

const RULES = { times: 5, firstMs: 100, longestMs: 1000 };
const counts = fc.nat({ max: RULES.times - 1 });
const chance = fc.double({ min: 0, max: 1, noNaN: true });

describe('the wait before a repetition', () => {
  it('is twice as long each time, up to the longest', () => {
    const waits = [0, 1, 2, 3, 4].map((count) => waitBefore({ count }, RULES, 1));
    expect(waits).toEqual([100, 200, 400, 800, 1000]);
  });

  it('is between a half and the whole of that, by chance', () => {
    fc.assert(
      fc.property(counts, chance, (count, random) => {
        const whole = waitBefore({ count }, RULES, 1)!;
        const wait = waitBefore({ count }, RULES, random)!;
        return wait >= whole / 2 && wait <= whole;
      }),
    );
    expect(waitBefore({ count: 2 }, RULES, 0)).toBe(200);
  });

  it('ends after so many times', () => {
    expect(waitBefore({ count: 5 }, RULES, 0)).toBeUndefined();
    expect(waitBefore({ count: 0 }, { ...RULES, times: 0 }, 0)).toBeUndefined();
  });

  it('is never shorter than Retry-After, and never longer than the longest', () => {
    fc.assert(
      fc.property(counts, chance, (count, random) => {
        const wait = waitBefore({ count, retryAfter: 1 }, RULES, random)!;
        return wait === 1000;
      }),
    );
    fc.assert(
      fc.property(
        fc.nat({ max: RETRIES.times - 1 }),
        fc.nat({ max: 60 }),
        chance,
        (count, retryAfter, random) => {
          const wait = waitBefore({ count, retryAfter }, RETRIES, random)!;
          return wait >= retryAfter * 1000 && wait <= RETRIES.longestMs;
        },
      ),
    );
    expect(waitBefore({ count: 0, retryAfter: 2 }, RETRIES, 0.5)).toBe(2100);
  });

  it('there is none where Retry-After asks for more than the longest', () => {
    expect(waitBefore({ count: 0, retryAfter: 2 }, RULES, 0)).toBeUndefined();
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T10:00:00.000Z');

  it.each([
    ['7', 7],
    ['0', 0],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30],
    ['Fri, 20 Nov 2026 09:59:00 GMT', 0],
    ['soon', undefined],
    [null, undefined],
  ])('%s is %s seconds', (header, seconds) => {
    expect(secondsOf(header, now)).toBe(seconds);
  });
});
