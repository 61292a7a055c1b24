import { Injectable } from '@nestjs/common';

/** How fast the audit goes. Times are milliseconds. */
@Injectable()
export class AuditPace {
  /** Records, and ledger entries, of one slice at most. */
  slice = 2000;
  /** Share of the database's time that its reading may take. */
  share = 0.01;
  /** Between two slices, at least. */
  leastPause = 10_000;
  /** From the beginning of one slice to that of the next. */
  longestInterval = 300_000;
  /** From the end of one round to the beginning of the next: a small database would be read all the time otherwise. */
  betweenRounds = 300_000;
}

/** How long to wait after a slice whose reading took so long. */
export function pauseAfter(took: number, { share, leastPause, longestInterval }: AuditPace): number {
  const owed = took * (1 / share - 1);
  return Math.max(0, Math.min(Math.max(owed, leastPause), longestInterval - took));
}

/** How large the next slice is: smaller where both the share and the longest interval could not be kept. */
export function sizeAfter(size: number, took: number, { slice, share, longestInterval }: AuditPace): number {
  if (took / share > longestInterval) return Math.max(1, Math.floor(size / 2));
  return Math.min(slice, size * 2);
}
