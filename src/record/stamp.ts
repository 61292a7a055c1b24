import { CLOCK, FUTURE_TOLERANCE_MS } from '../database/index.js';

const NEXT_OF_OWN = { $add: ['$lastupdated', 1] };

/** The first moment that counts as future, as an aggregation expression. */
export const FUTURE = { $add: [CLOCK, FUTURE_TOLERANCE_MS] };

/**
 * The new `lastupdated`, as an aggregation expression for the same atomic update as the change: the greater of the
 * clock and the record's own stamp + 1 ms. A stamp that is no date or lies in the future is replaced without looking
 * at it, else it would drag itself along for ever.
 */
export const STAMP = {
  $cond: [
    { $and: [{ $eq: [{ $type: '$lastupdated' }, 'date'] }, { $lte: ['$lastupdated', FUTURE] }] },
    { $max: [CLOCK, NEXT_OF_OWN] },
    CLOCK,
  ],
};
