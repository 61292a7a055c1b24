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

/** How many `_id`s of a list a step looks at. */
export function idsOf({ perItem, most = MOST }: Breadth, asked: number): number {
  return Math.min(Math.max(1, Math.ceil(asked * perItem)), most);
}

/** Behind a step that found fewer than were asked for: as much as was needed for each item that was found. */
export function wider(breadth: Breadth, { asked, count }: { asked: number; count: number }): Breadth {
  const needed = (idsOf(breadth, asked) / count) * SPARE;
  return { ...breadth, perItem: Math.min(needed, breadth.perItem * MOST_WIDER) };
}

/** After a step that took too long; nothing where it looked at one record only. */
export function narrower({ perItem, most }: Breadth): Breadth | undefined {
  if (most === 1) return undefined;
  return { perItem, most: most === undefined ? MOST : Math.ceil(most / NARROWER) };
}
