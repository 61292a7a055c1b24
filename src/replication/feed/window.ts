import { mongo } from 'mongoose';
import { FIRST_ID } from '../../record/index.js';
import type { Asked } from './parameters.js';

/** What a page is taken from: `from < lastupdated <= to`, `_id > lastoffsetid`, with `to` not beyond the clock. */
export type Window = Asked;

/** `from >= to` is no error: nothing lies between. */
export function isEmpty({ from, to }: Window): boolean {
  return from !== undefined && from >= to;
}

/** The window as a query. The lower bound of `_id` keeps out what has no ObjectId and is never delivered. */
export function windowQuery({ from, to, lastoffsetid }: Window): mongo.Document {
  return {
    lastupdated: { ...(from && { $gt: from }), $lte: to },
    _id: lastoffsetid === undefined ? { $gte: FIRST_ID } : { $gt: lastoffsetid },
  };
}
