import { MinKey } from 'bson';
import type { mongo } from 'mongoose';
import { FIRST_ID, type Kind, type Tenant } from '../../../record/pure.js';
import type { Selection } from './selection.js';

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
