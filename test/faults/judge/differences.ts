import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../../support/index.js';

/** Where a copy is not what it should be. */
export interface Difference {
  id: string;
  expected: Item | undefined;
  held: Item | undefined;
}

/** Every `id` under which the two differ. */
export function differences(
  expected: ReadonlyMap<string, Item>,
  held: { ids: readonly string[]; get(id: string): Item | undefined },
): Difference[] {
  return [...new Set([...expected.keys(), ...held.ids])]
    .map((id) => ({ id, expected: expected.get(id), held: held.get(id) }))
    .filter((pair) => !isDeepStrictEqual(pair.expected, pair.held));
}
