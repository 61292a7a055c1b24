import { count } from './count.js';

/** A length of time in its two greatest units, such as `3 d 4 h` or `12 s`. */
export function duration(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const;
  const first = units.findIndex(([, number]) => number > 0);
  const said = first === -1 ? units.slice(-1) : units.slice(first, first + 2);
  return said
    .filter(([, number], place) => place === 0 || number > 0)
    .map(([unit, number]) => `${count(number)} ${unit}`)
    .join(' ');
}
