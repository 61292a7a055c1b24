import { ago } from '../../../console/src/parts/format.js';

describe('how long ago a time is', () => {
  const now = Date.parse('2026-11-30T08:00:00.000Z');

  it.each([
    ['2026-11-28T21:00:00.000Z', '1 day ago'],
    ['2026-12-01T14:00:00.000Z', 'in 1 day'],
    ['2026-11-27T08:00:00.000Z', '3 days ago'],
    ['2026-11-30T07:59:59.800Z', 'now'],
    ['2026-11-30T07:00:00.000Z', '1 hour ago'],
  ])('%s: %s, which holds in every zone', (at, words) => {
    expect(ago(at, now)).toBe(words);
  });
});
