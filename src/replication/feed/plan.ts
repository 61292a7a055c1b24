import type { mongo } from 'mongoose';
import type { Selection } from './selection.js';
import type { Window } from './window.js';

/** How a page is read: along `_id` past what is not in the window, or along `lastupdated`, sorting the window. */
export type Plan = 'along-id' | 'along-lastupdated';

/** A window of up to this many pages is sorted for each page; a larger one is cheaper along `_id`. */
const PAGES_WORTH_SORTING = 10;

/** How many entries of a window need to be counted to choose; none where the choice is clear. */
export function entriesToCount({ from, limit }: Window): number {
  return from === undefined ? 0 : limit * PAGES_WORTH_SORTING + 1;
}

/** The plan is decided by the window, never by the planner's luck (design §4). */
export function planOf(window: Window, counted: number): Plan {
  return window.from !== undefined && counted < entriesToCount(window) ? 'along-lastupdated' : 'along-id';
}

/** The index that a plan states. The indexes of tombstones begin with the kind as well. */
export function hintOf(plan: Plan, { scope }: Selection): mongo.Document {
  const start = { organizationid: 1, appid: 1, ...('kind' in scope && { kind: 1 }) };
  return plan === 'along-id' ? { ...start, _id: 1 } : { ...start, lastupdated: 1, _id: 1 };
}
