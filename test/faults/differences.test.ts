import type { Item } from '../support/index.js';
import { FollowedCopy } from './consumers/index.js';
import { differences } from './judge/index.js';

const item = (id: string, n: number): Item => ({
  id,
  lastupdated: `2026-01-01T00:00:0${n}.000Z`,
  data: { n },
});

function copyOf(...items: Item[]): FollowedCopy {
  const copy = new FollowedCopy();
  items.forEach((one) => copy.update(one));
  return copy;
}

function sourceOf(...items: Item[]): Map<string, Item> {
  return new Map(items.map((one) => [one.id, one]));
}

test('a copy that is the source differs nowhere', () => {
  expect(differences(sourceOf(item('a', 1)), copyOf(item('a', 1)))).toEqual([]);
});

test.each([
  ['a record that never came', sourceOf(item('a', 1)), copyOf()],
  ['a record that should be gone', sourceOf(), copyOf(item('a', 1))],
  ['an older state of a record', sourceOf(item('a', 2)), copyOf(item('a', 1))],
  ['the same stamp with other data', sourceOf({ ...item('a', 1), data: { n: 9 } }), copyOf(item('a', 1))],
])('%s is a difference', (_, expected, held) => {
  expect(differences(expected, held).map(({ id }) => id)).toEqual(['a']);
});

test('a consumer applies nothing that is older than what it holds or has deleted', () => {
  const copy = copyOf(item('a', 2));
  expect(copy.update(item('a', 1))).toBe(false);
  expect(copy.remove({ id: 'a', lastUpdated: item('a', 1).lastupdated ?? '' })).toBe(false);
  expect(copy.remove({ id: 'a', lastUpdated: item('a', 3).lastupdated ?? '' })).toBe(true);
  expect(copy.update(item('a', 2))).toBe(false);
  expect(copy.ids).toEqual([]);
});
