import type { Item } from '../../support/index.js';
import type { Journal } from '../world/index.js';
import type { Difference } from './differences.js';

const LONGEST = 1000;

/** A difference for the reader: who, what, and how it came about. */
export function differenceText(consumer: string, difference: Difference, journal: Journal): string {
  const { id, expected, held } = difference;
  return [
    `${consumer}: ${id}`,
    `  expected ${itemText(expected)}`,
    `  held     ${itemText(held)}`,
    ...journal.about(id).map((line) => `    ${line}`),
  ].join('\n');
}

function itemText(item: Item | undefined): string {
  return item === undefined ? 'nothing' : JSON.stringify(item).slice(0, LONGEST);
}
