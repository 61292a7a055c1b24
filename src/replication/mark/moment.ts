import type { mongo } from 'mongoose';
import type { WatchProgress } from '../progress/index.js';
import type { MarkKey } from './mark.js';

/**
 * A point of the log from which on no change ends with a stamp at or below the fence (design §3, Mark). It is a fact
 * once the watcher has passed it.
 */
export interface Moment {
  fence: Date;
  at: mongo.Timestamp;
}

/** A document of `tidemark.moments`. */
export interface StoredMoment extends Moment, MarkKey {
  /** The second of `at`, by which the document expires. */
  passed: Date;
}

/** Whether a moment can be shown: the watcher has passed it, and no pass has ended after it. */
export function isShown({ at }: Moment, { watched, since }: WatchProgress): boolean {
  return watched !== undefined && since !== undefined && at.compare(since) >= 0 && at.compare(watched) <= 0;
}

/**
 * The moment that serves a window up to `to`: of those that can be shown, the one with the smallest fence that reaches
 * it, so that all pages of a harvest show the same one. With `notBefore` only those from a cluster time on.
 */
export function servingMoment(
  moments: Moment[],
  progress: WatchProgress,
  to: Date,
  notBefore?: mongo.Timestamp,
): Moment | undefined {
  return moments
    .filter((moment) => moment.fence >= to && isShown(moment, progress))
    .filter(({ at }) => notBefore === undefined || at.compare(notBefore) >= 0)
    .reduce<Moment | undefined>((best, one) => (best && !isBefore(one, best) ? best : one), undefined);
}

/** The newest moment that can be shown. */
export function newestMoment(moments: Moment[], progress: WatchProgress): Moment | undefined {
  return moments
    .filter((moment) => isShown(moment, progress))
    .reduce<Moment | undefined>((best, one) => (best && !isBefore(best, one) ? best : one), undefined);
}

function isBefore(one: Moment, other: Moment): boolean {
  const byFence = one.fence.getTime() - other.fence.getTime();
  return byFence < 0 || (byFence === 0 && one.at.compare(other.at) < 0);
}
