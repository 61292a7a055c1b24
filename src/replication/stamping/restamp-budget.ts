import type { RestampReason } from './reason.js';

const DAY_MS = 86_400_000;
/** Most `_id`s of a reason that are noted at once, such as for a filter that moves a million records. */
export const AT_ONCE_MOST = 1_000_000;
/** Most notes of a reason in the collection, plus at most the above, regardless of the retention period. */
export const KEPT_MOST = 10_000_000;

interface Purse {
  left: number;
  at: number;
}

/**
 * How much may be noted. A program that keeps the watcher stamping for weeks would fill the disk with notes that are
 * removed only by their age: so each reason has its own purse, which fills again as slowly as notes are removed.
 */
export class RestampBudget {
  private readonly purses = new Map<RestampReason, Purse>();
  /** `_id`s for each millisecond. */
  private readonly refill: number;

  constructor(days: number) {
    this.refill = KEPT_MOST / (days * DAY_MS);
  }

  /** Whether this many `_id`s may be noted at this time (milliseconds). If so, they count against the budget. */
  spend(reason: RestampReason, count: number, now: number): boolean {
    const { left, at } = this.purses.get(reason) ?? { left: AT_ONCE_MOST, at: now };
    const full = Math.min(AT_ONCE_MOST, left + Math.max(0, now - at) * this.refill);
    const isEnough = full >= count;
    this.purses.set(reason, { left: isEnough ? full - count : full, at: now });
    return isEnough;
  }
}
