import fc from 'fast-check';
import { windowsOver } from '../../../client/src/harvest/windows-over.js';

const stampAt = (ms: number) => new Date(ms).toISOString();

describe('the windows that a repair reads', () => {
  it('hold `from = lastupdated - 1 ms, to = lastupdated` of each stamp', () => {
    const stamp = '2026-11-20T10:00:00.000Z';
    expect(windowsOver([stamp, stamp])).toEqual([{ from: '2026-11-20T09:59:59.999Z', to: stamp }]);
    expect(windowsOver([])).toEqual([]);
  });

  it('of many stamps those that lie close together share one, and each is in exactly one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (times, most) => {
          const windows = windowsOver(times.map(stampAt), most);
          expect(windows.length).toBeLessThanOrEqual(most);
          for (const time of times) {
            const around = windows.filter(({ from, to }) => from < stampAt(time) && stampAt(time) <= to);
            expect(around).toHaveLength(1);
          }
          if (new Set(times).size <= most) expect(windows).toHaveLength(new Set(times).size);
        },
      ),
    );
  });
});
