import fc from 'fast-check';
import {
  type Breadth,
  FIRST_BREADTH,
  idsOf,
  narrower,
  wider,
} from '../../../../src/replication/feed/breadth.js';

const asked = fc.integer({ min: 1, max: 100_000 });
const MOST = 10_000;

it('looks at as many _ids as items are asked for, first', () => {
  fc.assert(fc.property(asked, (limit) => expect(idsOf(FIRST_BREADTH, limit)).toBe(Math.min(limit, MOST))));
});

it('then at as many as it took, and some to spare; sixteen times as many at most', () => {
  expect(idsOf(wider(FIRST_BREADTH, { asked: 1000, count: 500 }), 400)).toBe(1000);
  expect(idsOf(wider(FIRST_BREADTH, { asked: 100, count: 0 }), 100)).toBe(1600);
  fc.assert(
    fc.property(asked, fc.double({ min: 0, max: 0.99, noNaN: true }), (limit, share) => {
      const found = wider(FIRST_BREADTH, { asked: limit, count: Math.floor(limit * share) });
      expect(idsOf(found, limit)).toBeGreaterThanOrEqual(Math.min(limit, MOST));
      expect(idsOf(found, limit)).toBeLessThanOrEqual(Math.min(16 * limit, MOST));
    }),
  );
});

it('a step that takes too long becomes narrower, down to one record', () => {
  const steps: Breadth[] = [];
  for (let breadth: Breadth | undefined = FIRST_BREADTH; breadth !== undefined; breadth = narrower(breadth))
    steps.push(breadth);
  expect(steps.map(({ most }) => most)).toEqual([undefined, 10_000, 1000, 100, 10, 1]);
  expect(steps.map((breadth) => idsOf(breadth, 5000))).toEqual([5000, 5000, 1000, 100, 10, 1]);
});

it('what is narrow stays so where it becomes wider', () => {
  expect(wider({ perItem: 1, most: 1000 }, { asked: 10, count: 5 })).toEqual({ perItem: 2.5, most: 1000 });
});
