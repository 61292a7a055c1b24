/** How much one step of a page may look at, so that a sparse filter cannot keep the database longer than QUERY_MS. */
export interface Breadth {
  /** `_id`s of a list for each item that is asked for. */
  perItem: number;
  /** `_id`s of a list, or entries of the index along `_id`; without it as many as the page takes. */
  most?: number;
}

/** Enough where everything matches. */
export const FIRST_BREADTH: Breadth = { perItem: 1 };

/** So that a command stays small, and one that took too long is repeated over little. */
const MOST = 10_000;
const SPARE = 1.25;
const MOST_WIDER = 16;
const NARROWER = 10;
const RELAXED = 2;

/** How many `_id`s of a list a step looks at. */
export function idsOf({ perItem, most = MOST }: Breadth, asked: number): number {
  return Math.min(Math.max(1, Math.ceil(asked * perItem)), most);
}

/** Behind a step that found fewer than were asked for: as much as was needed for each item that was found. */
export function wider(breadth: Breadth, { asked, count }: { asked: number; count: number }): Breadth {
  const needed = (idsOf(breadth, asked) / count) * SPARE;
  return { ...breadth, perItem: Math.min(needed, breadth.perItem * MOST_WIDER) };
}

/** After a step that asked for so many items and took too long; nothing where it looked at one record only. */
export function narrower(breadth: Breadth, asked: number): Breadth | undefined {
  const looked = idsOf(breadth, asked);
  return breadth.most === 1 ? undefined : { ...breadth, most: Math.ceil(looked / NARROWER) };
}

/** After a step that did not take too long: what was slow may have been one record, or one moment. */
export function relaxed({ perItem, most }: Breadth): Breadth {
  return most === undefined ? { perItem } : { perItem, most: Math.min(most * RELAXED, MOST) };
}
