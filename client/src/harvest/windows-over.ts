import type { StampedWithin } from './source.js';

/** Requests that a repair sends at least, where there are more stamps than that. */
const MOST = 100;

/** Windows that hold all the stamps: one for each, or where they are too many, one for those that lie close together. */
export function windowsOver(stamps: string[], most = MOST): Pick<StampedWithin, 'from' | 'to'>[] {
  const times = [...new Set(stamps)].map((stamp) => Date.parse(stamp)).sort((one, other) => one - other);
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  const widest = [...gaps].sort((one, other) => other - one).slice(0, most - 1);
  const least = widest.length < most - 1 ? 0 : (widest.at(-1) ?? 0);
  const windows: { first: number; last: number }[] = [];
  for (const [index, time] of times.entries()) {
    const window = windows.at(-1);
    const gap = index === 0 ? Infinity : gaps[index - 1]!;
    if (window === undefined || (gap >= least && windows.length < most))
      windows.push({ first: time, last: time });
    else window.last = time;
  }
  return windows.map(({ first, last }) => ({
    from: new Date(first - 1).toISOString(),
    to: new Date(last).toISOString(),
  }));
}
