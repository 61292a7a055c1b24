import fc from 'fast-check';
import { readSettings } from '../../../../../src/platform/config/index.js';
import { paceOf, pauseAfter, sizeAfter } from '../../../../../src/replication/watcher/upkeep/audit.js';

const PACE = paceOf(readSettings({}));
const FIVE_MINUTES = 300_000;

it('reading takes at most 1 % of the time', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: FIVE_MINUTES / 100, noNaN: true }), (took) => {
      expect(pauseAfter(took, PACE)).toBeGreaterThanOrEqual(Math.floor(99 * took));
    }),
  );
});

it('the share holds for the shortest pause as well', () => {
  const pace = paceOf({ ...readSettings({}), auditPauseMs: 1 });
  expect(pauseAfter(20, pace)).toBeCloseTo(99 * 20);
  expect(sizeAfter(2000, 20, pace)).toBe(2000);
});

it('a slice begins every 5 minutes at least', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 2 * FIVE_MINUTES, noNaN: true }), (took) => {
      const pause = pauseAfter(took, PACE);
      expect(pause).toBeGreaterThanOrEqual(0);
      expect(Math.max(took, FIVE_MINUTES)).toBeGreaterThanOrEqual(took + pause);
    }),
  );
});

it('a small database is not read again and again', () => {
  expect(pauseAfter(0.1, PACE)).toBe(PACE.leastPause);
});

describe('the size of a slice', () => {
  it('stays where its reading is quick', () => {
    expect(sizeAfter(PACE.slice, 3000, PACE)).toBe(PACE.slice);
  });

  it('shrinks until 1 % of the time and a slice every 5 minutes go together', () => {
    expect(sizeAfter(2000, 3001, PACE)).toBe(1000);
    expect(sizeAfter(1, 3001, PACE)).toBe(1);
  });

  it('grows back', () => {
    expect(sizeAfter(500, 10, PACE)).toBe(1000);
    expect(sizeAfter(1500, 10, PACE)).toBe(2000);
  });
});
