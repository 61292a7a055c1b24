import type { mongo } from 'mongoose';
import { later, earlier } from '../../common/index.js';
import { FUTURE_TOLERANCE_MS, CLOCK } from '../../database/pure.js';
import type { Kind, Tenant } from '../../record/pure.js';
import type { WatchProgress } from './progress.js';

/** What a mark is about: each application and kind has one. */
export interface MarkKey extends Tenant {
  kind: Kind;
}

/** The one document of `tidemark.marks` for an application and kind (design §3, Mark). */
export interface Mark {
  _id: MarkKey;
  /** The highest clock value ever announced. After the clock was set back, up to {@link FENCE_LEAD_MS} ahead of it. */
  fence: Date;
  /** How often it was raised: makes each raise a change, and so an event, even where the clock stands still. */
  raises: number;
  /** Fence and number of the raise in one text, since an event shows only fields that changed. */
  announced: string;
}

/**
 * How far raises alone move a fence ahead of a clock that stands still (milliseconds): what is stamped above it must not
 * count as stamped in the future.
 */
export const FENCE_LEAD_MS = FUTURE_TOLERANCE_MS - 100;

/**
 * The fence that a raise announces: the clock, and at least 1 ms above the fence before. The cluster time of a server whose
 * clock was set back does not move until its clock has caught up, and changes would not arrive until then.
 */
export function fenceAfterRaise(fence: Date | undefined, clock: Date): Date {
  if (fence === undefined || fence < clock) return clock;
  const next = Math.min(fence.getTime() + 1, clock.getTime() + FENCE_LEAD_MS);
  return later(fence, new Date(next));
}

/** The fence that an announcement tells; nothing where somebody else has written something else. */
export function fenceIn(announced: unknown): Date | undefined {
  if (typeof announced !== 'string') return undefined;
  const fence = new Date(announced.split(' ')[0] ?? '');
  return Number.isNaN(fence.getTime()) ? undefined : fence;
}

/** A key for maps. */
export function markName({ organizationid, appid, kind }: MarkKey): string {
  return JSON.stringify([kind, organizationid, appid]);
}

/** Nothing but the key, in the order in which it is stored. */
export function markKey({ organizationid, appid, kind }: MarkKey): MarkKey {
  return { organizationid, appid, kind };
}

const IS_RAISED = { $eq: [{ $type: '$fence' }, 'date'] };
const ABOVE_FENCE = { $min: [{ $add: ['$fence', 1] }, { $add: [CLOCK, FENCE_LEAD_MS] }] };
/** {@link fenceAfterRaise}, as an expression. */
const FENCE = { $max: [CLOCK, '$fence', { $cond: [IS_RAISED, ABOVE_FENCE, CLOCK] }] };

/** A raise, as an update pipeline: the fence never goes back, the text changes each time. */
export const RAISE: mongo.Document[] = [
  { $set: { fence: FENCE, raises: { $add: [{ $ifNull: ['$raises', 0] }, 1] } } },
  { $set: { announced: { $concat: [{ $toString: '$fence' }, ' ', { $toString: '$raises' }] } } },
];

/** The fence that the stream has passed, by the name of the mark. */
export type Fences = Map<string, Date>;

/** The same for those who only look one up. */
export type KnownFences = Pick<Fences, 'get'>;

/** Fences as they are once others are passed too. There are thousands of them, so none is copied. */
export function withPassed(fences: KnownFences, passed: KnownFences): KnownFences {
  return { get: (name) => passed.get(name) ?? fences.get(name) };
}

/** A stamp of a mark that some change has shown. */
export interface Head {
  mark: MarkKey;
  stamp: Date;
}

/** The greatest by the name of its mark. */
export type Heads = Map<string, Head>;

/** A document of `tidemark.heads`: the greatest stamp that the leader has seen since the mark was first raised. It only grows. */
export interface StoredHead {
  _id: MarkKey;
  stamp: Date;
}

/** Keeps the greatest. */
export function noteHead(heads: Heads, { mark, stamp }: Head): void {
  const name = markName(mark);
  const known = heads.get(name);
  if (known === undefined || stamp > known.stamp) heads.set(name, { mark, stamp });
}

/** The greatest stamp that is not taken for one of the future in a change of this cluster time. */
export function greatestAt(at: mongo.Timestamp): Date {
  return new Date(at.getHighBitsUnsigned() * 1000 + FUTURE_TOLERANCE_MS);
}

/**
 * What counts of a stamp that a change shows. One of the future is stamped anew, unless the clock has come to it by then: so
 * it counts as far as the clock may have come.
 */
export function countedStamp(stamp: Date, at: mongo.Timestamp): Date {
  return earlier(stamp, greatestAt(at));
}

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
