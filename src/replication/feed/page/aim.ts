import { setTimeout as wait } from 'node:timers/promises';

/** However long MARK_WAIT is, a `to` further ahead than this is not waited for (milliseconds). */
const FURTHEST_MS = 5000;

/** Within this time a page that waits for the clock is answered, unless MARK_WAIT alone is longer (milliseconds). */
const ANSWER_MS = 9000;

/** The database reads its clock every 10 ms only, so it may come to a `to` a little late (milliseconds). */
const TICK_MS = 20;

/** What a page asks for and meets: dates of the database's clock. */
export interface AskedTo {
  to: Date;
  clock: Date;
  /** The highest clock value ever announced. After a fail-over to a slower clock it lies ahead of it. */
  fence: Date | undefined;
  /** Whether it is the first page of its feed. */
  isFirst: boolean;
}

/**
 * What a page does about its `to` (contract §1): `reached` by the clock or announced before, so the mark is raised at
 * most; `awaited` until the clock is there; `clock`, read as the clock; or `refused`, since pages of different moments
 * would lose changes in silence.
 */
export type Aim = 'reached' | 'awaited' | 'clock' | 'refused';

export function aimOf({ to, clock, fence, isFirst }: AskedTo, markWait: number): Aim {
  if (to <= clock || (fence !== undefined && to <= fence)) return 'reached';
  if (to.getTime() - clock.getTime() <= Math.min(markWait, FURTHEST_MS)) return 'awaited';
  return isFirst ? 'clock' : 'refused';
}

/** For how long a page waits altogether, for the clock and for the watcher behind it. */
export function patienceOf({ to, clock }: Pick<AskedTo, 'to' | 'clock'>, markWait: number): number {
  const ahead = Math.max(0, to.getTime() - clock.getTime());
  return Math.max(markWait, Math.min(markWait + ahead, ANSWER_MS));
}

/** Resolves when a clock that was seen has come to a `to`, if both go equally fast; at the deadline at the latest. */
export async function clockReaches(to: Date, clock: Date, deadline: number): Promise<void> {
  const ahead = to.getTime() - clock.getTime();
  if (ahead > 0) await wait(Math.max(0, Math.min(ahead + TICK_MS, deadline - performance.now())));
}
