import { MinKey } from 'bson';
import type { mongo } from 'mongoose';
import type { IndexFields } from '../../../platform/database/index.js';
import type { Selection } from './selection.js';
import { FIRST_ID, type Tenant } from '../../../record/pure.js';
import type { Kind } from '../../../kinds/index.js';

/** How much one step of a page may examine, so that a sparse filter cannot occupy the database longer than QUERY_MS. */
export interface Breadth {
  /** The number of `_id`s of a list that are examined for each requested item. */
  perItem: number;
  /**
   * The maximum number of `_id`s of a list, or of index entries of a walk along `_id`, that a step examines. Absent as
   * long as no step was too slow: a walk is then unlimited, and a step along a list examines at most `MOST`.
   */
  most?: number;
}

/** Sufficient if everything matches. */
export const FIRST_BREADTH: Breadth = { perItem: 1 };

/**
 * The maximum number of `_id`s in a command. It keeps commands small, including the one that is retried after a
 * timeout.
 */
const MOST = 10_000;
const SPARE = 1.25;
const MOST_WIDER = 16;
const NARROWER = 10;
const RELAXED = 2;

/** The number of `_id`s of a list that a step examines. */
export function idsOf({ perItem, most = MOST }: Breadth, asked: number): number {
  return Math.min(Math.max(1, Math.ceil(asked * perItem)), most);
}

/**
 * The breadth after a step that found fewer items than requested: the `_id`s that each found item needed, with a
 * margin, but at most {@link MOST_WIDER} times as many as before.
 */
export function wider(breadth: Breadth, { asked, count }: { asked: number; count: number }): Breadth {
  const needed = (idsOf(breadth, asked) / count) * SPARE;
  return { ...breadth, perItem: Math.min(needed, breadth.perItem * MOST_WIDER) };
}

/** The breadth after a step of `asked` items that took too long; undefined if `most` was already 1. */
export function narrower(breadth: Breadth, asked: number): Breadth | undefined {
  const examined = idsOf(breadth, asked);
  return breadth.most === 1 ? undefined : { ...breadth, most: Math.ceil(examined / NARROWER) };
}

/**
 * The breadth after a step that was fast enough. A single record or a temporary load may have caused an earlier
 * timeout.
 */
export function relaxed({ perItem, most }: Breadth): Breadth {
  return most === undefined ? { perItem } : { perItem, most: Math.min(most * RELAXED, MOST) };
}

/**
 * How a page is read. `all`: along `_id`, skipping documents outside the window. `one-page`: along `lastupdated`, if the
 * window fits into one reply. `id-list`: by the list of the window's `_id`s.
 */
export type Plan = 'all' | 'one-page' | 'id-list';

/** For a window with more than this share of the collection, a walk along `_id` examines fewer keys than a list. */
const SHARE_WORTH_LISTING = 0.6;

/** A list of this length takes 12 MB, a quarter of the cache of lists. */
const LONGEST_LIST = 1_000_000;

/**
 * The maximum number of `_id`s in a list, for a collection with this number of documents. A larger window is read along
 * `_id`.
 */
export function longestList(documents: number): number {
  return Math.min(Math.floor(documents * SHARE_WORTH_LISTING), LONGEST_LIST);
}

/**
 * The window decides the plan, never the query planner (design §4). `listed` is its number of `_id`s, if they are listed.
 */
export function planOf(listed: number | undefined, limit: number): Plan {
  if (listed === undefined) return 'all';
  return listed <= limit ? 'one-page' : 'id-list';
}

/** The index of a plan. The indexes of tombstones contain the kind as well. */
export function indexOf(plan: Plan, { scope }: Pick<Selection, 'scope'>): IndexFields {
  const tenant = { organizationid: 1, appid: 1 } as const;
  const start: IndexFields = 'kind' in scope ? { ...tenant, kind: 1 } : tenant;
  return plan === 'one-page' ? { ...start, lastupdated: 1, _id: 1 } : { ...start, _id: 1 };
}

/** The window of a page (contract §1): `from < lastupdated <= to`, `_id > lastoffsetid`, at most `limit` items. */
export interface Window {
  to: Date;
  from?: Date;
  lastoffsetid?: mongo.ObjectId;
  limit: number;
  behind?: Behind;
}

/**
 * The number of items after `lastoffsetid` that a page skips, counted as of a moment. It comes from a Link that was sent
 * early.
 */
export interface Behind {
  items: number;
  at: mongo.Timestamp;
}

/** A Link counts no more items than this. */
export const MOST_BEHIND = 1_000_000;

/** The `_id`s that a query is narrowed to, in addition to `lastoffsetid`. */
export type Narrowed = { $lte: mongo.ObjectId } | { $in: mongo.ObjectId[] } | undefined;

/** `from >= to` is valid and selects no items. */
export function isEmpty({ from, to }: Window): boolean {
  return from !== undefined && from >= to;
}

/** The window as a query. The lower bound of `_id` excludes documents without an ObjectId, which are never delivered. */
export function windowQuery(
  { from, to, lastoffsetid }: Omit<Window, 'limit'>,
  narrowed?: Narrowed,
): mongo.Document {
  const behind = lastoffsetid === undefined ? { $gte: FIRST_ID } : { $gt: lastoffsetid };
  return { lastupdated: { ...(from && { $gt: from }), $lte: to }, _id: { ...behind, ...narrowed } };
}

/**
 * The same for a walk along `lastupdated`. If any stamp in the index was ever an array, MongoDB uses only one bound of a
 * range. It must be the lower one, above which there are few entries. The upper bound is therefore an expression, which
 * never becomes a bound there.
 */
export function windowQueryAlongStamps(window: Omit<Window, 'limit'>): mongo.Document {
  const { from, to } = window;
  const upTo = { $expr: { $lte: ['$lastupdated', to] } };
  return { ...windowQuery(window), ...(from && { lastupdated: { $gt: from }, ...upTo }) };
}

/** A filter is combined with a window only by `$and`, so that no filter can widen the window. */
export function pageQuery({ scope, filter }: Selection, window: mongo.Document): mongo.Document {
  const within = { ...scope, ...window };
  return filter === undefined ? within : { $and: [within, filter] };
}

/** The range of an index along `lastupdated` that a window with a lower bound covers. */
interface Bounds {
  min: mongo.Document;
  max: mongo.Document;
}

/**
 * These bounds replace the filter, so that the query is covered by the index. Do not use them in a query that sorts:
 * MongoDB would take the order of the index for the requested order. A date is a whole number of milliseconds, so the
 * first one after `from` is a millisecond later.
 */
export function boundsOf({ scope }: Pick<Selection, 'scope'>, from: Date, to: Date): Bounds {
  const { organizationid, appid, kind } = scope as Tenant & { kind?: Kind };
  const start = { organizationid, appid, ...(kind !== undefined && { kind }) };
  const behind = (date: Date) => ({
    ...start,
    lastupdated: new Date(date.getTime() + 1),
    _id: new MinKey(),
  });
  return { min: behind(from), max: behind(to) };
}
