import type { Figures } from '../api/types.js';
import type { Line } from '../parts/chart.js';

/** Ten minutes of looks, one every two seconds. */
const MOST = 300;
const MS = 1000;

type Counted = 'requests' | 'items' | 'restamps' | 'tombstones';
type Gauged = 'lagSeconds' | 'oplogWindowSeconds' | 'quarantined';
/** What an instance counts for itself begins anew with it, and another one may answer. */
const OF_INSTANCE: readonly Counted[] = ['requests', 'items'];
/** An instance that has not answered for so long is gone (milliseconds). */
const GONE_MS = 60_000;

export function kept(before: Figures[], now: Figures): Figures[] {
  return [...before, now].slice(-MOST);
}

/** The instances that have answered lately. */
export function instancesIn(points: Figures[]): string[] {
  const now = points.at(-1);
  const lately = points.filter((point) => now !== undefined && isLately(point, now));
  return [...new Set(lately.map(({ instance }) => instance))].sort();
}

/**
 * How fast a count grows, from each look to the next. What instances count for themselves is compared with the look before
 * of the same one, and added up; it is not known while one of them has been seen only once.
 */
export function rateOf(points: Figures[], name: Counted): Line {
  const latest = new Map<string, { point: Figures; rate: number | null }>();
  const rates = points.map((point) => {
    const whose = OF_INSTANCE.includes(name) ? point.instance : '';
    const before = latest.get(whose);
    latest.set(whose, { point, rate: before === undefined ? null : rateBetween(before.point, point, name) });
    const counted = [...latest.values()].filter((one) => isLately(one.point, point));
    return counted.some(({ rate }) => rate === null) ? null : sum(counted.map(({ rate }) => rate ?? 0));
  });
  return [points.slice(1).map(secondsOf), rates.slice(1)];
}

function rateBetween(before: Figures, point: Figures, name: Counted): number | null {
  const seconds = secondsOf(point) - secondsOf(before);
  return seconds > 0 ? Math.max(0, point[name] - before[name]) / seconds : null;
}

function isLately(point: Figures, now: Figures): boolean {
  return Date.parse(now.at) - Date.parse(point.at) <= GONE_MS;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export function gaugeOf(points: Figures[], name: Gauged): Line {
  return [points.map(secondsOf), points.map((point) => point[name])];
}

function secondsOf({ at }: Figures): number {
  return Date.parse(at) / MS;
}
