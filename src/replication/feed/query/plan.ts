import type { IndexFields } from '../../../database/index.js';
import type { Selection } from './selection.js';

/**
 * How a page is read: along `_id` past what is not in the window; along `lastupdated`, where the window is no larger
 * than the page; or by the list of the window's `_id`s.
 */
export type Plan = 'all' | 'one-page' | 'id-list';

/** Of a window with more than this share of the collection, a walk along `_id` examines fewer keys than a list. */
const SHARE_WORTH_LISTING = 0.6;

/** A longer list would not be kept: 12 MB. */
const LONGEST_LIST = 1_000_000;

/** How many `_id`s of a window are listed at most; one that has more is read along `_id`. */
export function longestList(documents: number): number {
  return Math.min(Math.floor(documents * SHARE_WORTH_LISTING), LONGEST_LIST);
}

/** The plan is decided by the window, never by the planner's luck (design §4). `listed` is how many `_id`s it has. */
export function planOf(listed: number | undefined, limit: number): Plan {
  if (listed === undefined) return 'all';
  return listed <= limit ? 'one-page' : 'id-list';
}

/** The index that a plan goes along. Those of tombstones begin with the kind as well. */
export function indexOf(plan: Plan, { scope }: Pick<Selection, 'scope'>): IndexFields {
  const tenant = { organizationid: 1, appid: 1 } as const;
  const start: IndexFields = 'kind' in scope ? { ...tenant, kind: 1 } : tenant;
  return plan === 'one-page' ? { ...start, lastupdated: 1, _id: 1 } : { ...start, _id: 1 };
}
