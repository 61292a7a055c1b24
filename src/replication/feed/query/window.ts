import { MinKey } from 'bson';
import type { mongo } from 'mongoose';
import type { IndexFields } from '../../../database/index.js';
import type { Selection } from './selection.js';
import { FIRST_ID, type Kind, type Tenant } from '../../../record/pure.js';

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

/** What a page is taken from (contract §1): `from < lastupdated <= to`, `_id > lastoffsetid`, at most `limit` items. */
export interface Window {
  to: Date;
  from?: Date;
  lastoffsetid?: mongo.ObjectId;
  limit: number;
  behind?: Behind;
}

/** Items behind `lastoffsetid` that a page begins behind, counted as of a moment: of a Link that went out early. */
export interface Behind {
  items: number;
  at: mongo.Timestamp;
}

/** A Link counts no more items than this. */
export const MOST_BEHIND = 1_000_000;

/** Which `_id`s a query is narrowed to, beside `lastoffsetid`. */
export type Narrowed = { $lte: mongo.ObjectId } | { $in: mongo.ObjectId[] } | undefined;

/** `from >= to` is no error: nothing lies between. */
export function isEmpty({ from, to }: Window): boolean {
  return from !== undefined && from >= to;
}

/** The window as a query. The lower bound of `_id` keeps out what has no ObjectId and is never delivered. */
export function windowQuery(
  { from, to, lastoffsetid }: Omit<Window, 'limit'>,
  narrowed?: Narrowed,
): mongo.Document {
  const behind = lastoffsetid === undefined ? { $gte: FIRST_ID } : { $gt: lastoffsetid };
  return { lastupdated: { ...(from && { $gt: from }), $lte: to }, _id: { ...behind, ...narrowed } };
}

/**
 * The same for a walk along `lastupdated`. In an index where a list has ever stood in place of a stamp, MongoDB uses one
 * bound of a range only. Since expressions never become bounds there, it is the lower one, beyond which little lies.
 */
export function windowQueryAlongStamps(window: Omit<Window, 'limit'>): mongo.Document {
  const { from, to } = window;
  const upTo = { $expr: { $lte: ['$lastupdated', to] } };
  return { ...windowQuery(window), ...(from && { lastupdated: { $gt: from }, ...upTo }) };
}

/** A filter combines with a window only as `$and`: no filter can widen what a page is taken from. */
export function pageQuery({ scope, filter }: Selection, window: mongo.Document): mongo.Document {
  const within = { ...scope, ...window };
  return filter === undefined ? within : { $and: [within, filter] };
}

/** The stretch of an index along `lastupdated` that a window with a lower bound takes up. */
export interface Bounds {
  min: mongo.Document;
  max: mongo.Document;
}

/**
 * It is the whole query, so that the index alone answers it. Not for queries that sort: MongoDB then takes the order of
 * the index for the one that is asked for. Dates are whole milliseconds.
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
