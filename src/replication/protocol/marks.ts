import type { mongo } from 'mongoose';
import { later, earlier } from '../../platform/common/index.js';
import { FUTURE_TOLERANCE_MS, CLOCK } from '../../platform/database/pure.js';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/pure.js';
import type { WatchProgress } from './progress.js';

/** The key of a mark. Each application and kind has one. */
export interface MarkKey extends Tenant {
  kind: Kind;
}

/** The one document of `tidemark.marks` for an application and kind (design §3, Mark). */
export interface Mark {
  _id: MarkKey;
  /**
   * The highest clock value ever announced. After the clock was set back, it may be up to {@link FENCE_LEAD_MS} ahead of the
   * clock.
   */
  fence: Date;
  /** The number of raises. It makes each raise a change, and so an event, even if the clock does not advance. */
  raises: number;
  /** The fence and `raises` in one text, since an event contains only changed fields. */
  announced: string;
}

/**
 * How far raises alone can move a fence ahead of a clock that does not advance (milliseconds). A stamp above the fence must
 * not count as a stamp in the future.
 */
const FENCE_LEAD_MS = FUTURE_TOLERANCE_MS - 100;

/**
 * The fence that a raise announces: the clock, but at least 1 ms above the previous fence, up to {@link FENCE_LEAD_MS} ahead
 * of the clock. After a server's clock was set back, the cluster time does not advance until the clock has caught up.
 * Without the extra millisecond, changes would not arrive until then.
 */
export function fenceAfterRaise(fence: Date | undefined, clock: Date): Date {
  if (fence === undefined || fence < clock) return clock;
  const next = Math.min(fence.getTime() + 1, clock.getTime() + FENCE_LEAD_MS);
  return later(fence, new Date(next));
}

/** The fence in the text of an announcement; undefined if another program has written something else there. */
export function fenceIn(announced: unknown): Date | undefined {
  if (typeof announced !== 'string') return undefined;
  const fence = new Date(announced.split(' ')[0] ?? '');
  return Number.isNaN(fence.getTime()) ? undefined : fence;
}

/** A key for maps. */
export function markName({ organizationid, appid, kind }: MarkKey): string {
  return JSON.stringify([kind, organizationid, appid]);
}

/** Only the fields of the key, in the order in which they are stored. */
export function markKey({ organizationid, appid, kind }: MarkKey): MarkKey {
  return { organizationid, appid, kind };
}

const IS_RAISED = { $eq: [{ $type: '$fence' }, 'date'] };
const ABOVE_FENCE = { $min: [{ $add: ['$fence', 1] }, { $add: [CLOCK, FENCE_LEAD_MS] }] };
/** {@link fenceAfterRaise}, as an expression. */
const FENCE = { $max: [CLOCK, '$fence', { $cond: [IS_RAISED, ABOVE_FENCE, CLOCK] }] };

/** A raise, as an update pipeline. The fence never decreases, and the text changes each time. */
export const RAISE: mongo.Document[] = [
  { $set: { fence: FENCE, raises: { $add: [{ $ifNull: ['$raises', 0] }, 1] } } },
  { $set: { announced: { $concat: [{ $toString: '$fence' }, ' ', { $toString: '$raises' }] } } },
];

/** The fences that the stream has passed, by the name of the mark. */
export type Fences = Map<string, Date>;

/** {@link Fences} for lookups only. */
export type KnownFences = Pick<Fences, 'get'>;

/** The fences with newly passed ones applied. Nothing is copied, since there are thousands of fences. */
export function withPassed(fences: KnownFences, passed: KnownFences): KnownFences {
  return { get: (name) => passed.get(name) ?? fences.get(name) };
}

/** A stamp that a change has shown for a mark. */
interface Head {
  mark: MarkKey;
  stamp: Date;
}

/** The greatest stamp of each mark, by the name of the mark. */
export type Heads = Map<string, Head>;

/**
 * A document of `tidemark.heads`: the greatest stamp that the leader has seen since the mark was first raised. It never
 * decreases. While it is above the fence, it is not written again, although the leader may see greater stamps.
 */
export interface StoredHead {
  _id: MarkKey;
  stamp: Date;
}

/** Keeps the greatest stamp of the mark. */
export function noteHead(heads: Heads, { mark, stamp }: Head): void {
  const name = markName(mark);
  const known = heads.get(name);
  if (known === undefined || stamp > known.stamp) heads.set(name, { mark, stamp });
}

/** The greatest stamp that does not count as in the future for a change of this cluster time. */
export function greatestAt(at: mongo.Timestamp): Date {
  return new Date(at.getHighBitsUnsigned() * 1000 + FUTURE_TOLERANCE_MS);
}

/**
 * The stamp that counts for the head. A stamp in the future will be replaced, unless the clock has reached it by then,
 * so it counts as the greatest value that the clock may have reached.
 */
export function countedStamp(stamp: Date, at: mongo.Timestamp): Date {
  return earlier(stamp, greatestAt(at));
}

/**
 * A point in the log after which no change keeps a stamp at or below the fence (design §3, Mark). This holds once the
 * watcher has passed the point.
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
 * The moment that serves a window up to `to`. Among the moments that can be shown and whose fence is at or above `to`, it is
 * the one with the smallest fence, so that all pages of a harvest show the same moment. With `notBefore`, only moments from
 * that cluster time on are considered.
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
