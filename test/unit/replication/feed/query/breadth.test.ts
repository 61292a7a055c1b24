import fc from 'fast-check';
import {
  type Breadth,
  FIRST_BREADTH,
  idsOf,
  narrower,
  relaxed,
  wider,
} from '../../../../../src/replication/feed/query/window.js';

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

it('a step that takes too long becomes narrower than it was, down to one record', () => {
  const steps: Breadth[] = [];
  for (
    let breadth: Breadth | undefined = FIRST_BREADTH;
    breadth !== undefined;
    breadth = narrower(breadth, 5000)
  )
    steps.push(breadth);
  expect(steps.map(({ most }) => most)).toEqual([undefined, 500, 50, 5, 1]);
  expect(steps.map((breadth) => idsOf(breadth, 5000))).toEqual([5000, 500, 50, 5, 1]);
});

it('and wider again, step by step, where it does not', () => {
  expect(relaxed(FIRST_BREADTH)).toEqual(FIRST_BREADTH);
  const steps = [relaxed({ perItem: 3, most: 1 })];
  while (steps.at(-1)!.most! < MOST) steps.push(relaxed(steps.at(-1)!));
  expect(steps.map(({ most }) => most)).toEqual([
    ...[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, MOST],
  ]);
  expect(relaxed(steps.at(-1)!)).toEqual({ perItem: 3, most: MOST });
});

it('what is narrow stays so where it becomes wider', () => {
  expect(wider({ perItem: 1, most: 1000 }, { asked: 10, count: 5 })).toEqual({ perItem: 2.5, most: 1000 });
});
