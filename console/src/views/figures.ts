import type { Figures } from '../api/types.js';
import type { Line } from '../parts/chart.js';

/** Ten minutes of looks, one every two seconds. */
const MOST = 300;
const MS = 1000;

type Counted = 'requests' | 'items' | 'restamps' | 'tombstones';
type Gauged = 'lagSeconds' | 'oplogWindowSeconds' | 'quarantined';
/** What an instance counts for itself begins anew with it, and another one may answer. */
const OF_INSTANCE: readonly Counted[] = ['requests', 'items'];

export function kept(before: Figures[], now: Figures): Figures[] {
  return [...before, now].slice(-MOST);
}

/** How fast a count grows: from each look to the next of the same instance. */
export function rateOf(points: Figures[], name: Counted): Line {
  const rates = points.slice(1).map((point, index) => {
    const before = points[index]!;
    const seconds = (Date.parse(point.at) - Date.parse(before.at)) / MS;
    const isComparable = !OF_INSTANCE.includes(name) || before.instance === point.instance;
    return isComparable && seconds > 0 ? Math.max(0, point[name] - before[name]) / seconds : null;
  });
  return [points.slice(1).map(secondsOf), rates];
}

export function gaugeOf(points: Figures[], name: Gauged): Line {
  return [points.map(secondsOf), points.map((point) => point[name])];
}

function secondsOf({ at }: Figures): number {
  return Date.parse(at) / MS;
}
