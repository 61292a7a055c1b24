import { pauseAfterSlice } from '../../../../../src/replication/watcher/repair/ignored-records.js';

describe('the pause between two slices of the search for ignored records', () => {
  it.each([10, 100, 10_000])('leaves 19/20 of the time to others after a slice of %i ms', (took) => {
    expect(took / (took + pauseAfterSlice(took))).toBeCloseTo(1 / 20);
  });

  it('is never shorter than 20 ms', () => {
    expect(pauseAfterSlice(0)).toBe(20);
  });
});
