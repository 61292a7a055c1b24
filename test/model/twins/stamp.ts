import { FUTURE_TOLERANCE_MS } from '../../../src/platform/database/index.js';
import { EARLIEST } from '../../../src/record/index.js';

/** What `HAS_GOOD_STAMP` says of a stored stamp. */
export function isGoodStamp(stored: unknown, clock: Date): stored is Date {
  return (
    stored instanceof Date && stored >= EARLIEST && stored.getTime() <= clock.getTime() + FUTURE_TOLERANCE_MS
  );
}

/** What `stampAbove` makes of it. */
export function nextStamp(stored: unknown, clock: Date, fence?: Date): Date {
  const own = isGoodStamp(stored, clock) ? stored.getTime() + 1 : 0;
  const above = fence === undefined ? 0 : fence.getTime() + 1;
  return new Date(Math.max(clock.getTime(), own, above));
}

/** What `needsStamp` says of it. */
export function isStampNeeded(stored: unknown, clock: Date, fence?: Date): boolean {
  return !isGoodStamp(stored, clock) || (fence !== undefined && stored <= fence);
}
