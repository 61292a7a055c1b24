import type { mongo } from 'mongoose';
import { literal } from '../common/index.js';
import { CLOCK, FUTURE_TOLERANCE_MS } from '../database/plain.js';

const NEXT_OF_OWN = { $add: ['$lastupdated', 1] };

/** Before it a timestamp would need more than four digits for the year (contract §1). */
export const EARLIEST = new Date('0000-01-01T00:00:00.000Z');

/** Whether the record's stamp is a date and not in the future, as an aggregation expression. */
export const HAS_GOOD_STAMP = {
  $and: [
    { $eq: [{ $type: '$lastupdated' }, 'date'] },
    { $gte: ['$lastupdated', EARLIEST] },
    { $lte: ['$lastupdated', { $add: [CLOCK, FUTURE_TOLERANCE_MS] }] },
  ],
};

/**
 * The new `lastupdated`, as an aggregation expression for the same atomic update as the change: the greater of the
 * clock and the record's own stamp + 1 ms. A stamp that is not a date or lies in the future is replaced without looking
 * at it, else it would drag itself along for ever.
 */
export const STAMP = { $cond: [HAS_GOOD_STAMP, { $max: [CLOCK, NEXT_OF_OWN] }, CLOCK] };

/** {@link STAMP}, and above a fence: the expression for whatever came too late for somebody. */
export function stampAbove(fence: Date | undefined): mongo.Document {
  return fence === undefined ? STAMP : { $max: [STAMP, literal(justAbove(fence))] };
}

/** Whether a stored stamp is bad or not above the fence, as an aggregation expression. */
export function needsStamp(fence: Date | undefined): mongo.Document {
  const isBad = { $not: [HAS_GOOD_STAMP] };
  return fence === undefined ? isBad : { $or: [isBad, { $lte: ['$lastupdated', literal(fence)] }] };
}

function justAbove(fence: Date): Date {
  return new Date(fence.getTime() + 1);
}
