import { estimated } from '../../../../src/administration/preview/sample.js';

/** How likely each number of hits is, among so many of which this share is in the group (chosen with replacement). */
function* likelihoods(looked: number, share: number): Generator<[hits: number, likely: number]> {
  let log = looked * Math.log1p(-share);
  for (let hits = 0; hits <= looked; hits += 1) {
    yield [hits, Math.exp(log)];
    log += Math.log((looked - hits) / (hits + 1)) + Math.log(share / (1 - share));
  }
}

/** The share of estimates that lie within their own error. */
function within(looked: number, share: number, of: number): number {
  let sum = 0;
  for (const [hits, likely] of likelihoods(looked, share)) {
    const { count, error } = estimated(hits, looked, of);
    if (Math.abs(count - share * of) <= error) sum += likely;
  }
  return sum;
}

describe('The error of an estimate', () => {
  const shares = Array.from({ length: 99 }, (_, index) => (index + 1) / 100);
  const rare = [1e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 3e-3, 5e-3];

  it.each([300, 1000, 10_000])(
    'holds in 95 of 100 cases, whatever the share is, of %i looked at',
    (looked) => {
      const all = [...rare, ...shares, ...rare.map((share) => 1 - share)];
      const least = Math.min(...all.map((share) => within(looked, share, 100_000_000)));
      expect(least).toBeGreaterThanOrEqual(0.95);
    },
  );

  it('is one percent of the records where 10,000 were looked at, and less for rare groups', () => {
    expect(estimated(5000, 10_000, 1_000_000)).toEqual({ count: 500_000, error: 9949 });
    expect(estimated(10, 10_000, 1_000_000).error).toBeLessThan(1000);
  });

  it('is not nothing where none was found', () => {
    const { count, error } = estimated(0, 10_000, 1_000_000);
    expect(count).toBe(0);
    expect(error).toBeGreaterThan(300);
    expect(error).toBeLessThan(500);
  });

  it('is less where more of them were looked at, and nothing where all were', () => {
    expect(estimated(500, 1000, 1001).error).toBeLessThan(3);
    expect(estimated(500, 1000, 1000)).toEqual({ count: 500, error: 0 });
    expect(estimated(0, 0, 0)).toEqual({ count: 0, error: 0 });
  });

  it('is everything where none was looked at', () => {
    expect(estimated(0, 0, 70)).toEqual({ count: 0, error: 70 });
  });
});
