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
