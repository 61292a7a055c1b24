import mongoose from 'mongoose';
import { count } from '../common/index.js';

export { table } from './table.js';

const { EJSON } = mongoose.mongo.BSON;
const LONGEST_CELL = 1000;

/** A stored value in a cell, whatever it is: operators write some collections by hand. Long ones are cut. */
export function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : EJSON.stringify(value, { relaxed: true });
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

/** A number of things in words, such as `1 record` or `2 records`. */
export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? '' : 's'}`;
}

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
