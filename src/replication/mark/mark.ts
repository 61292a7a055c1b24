import { later } from '../../common/index.js';
import { FUTURE_TOLERANCE_MS } from '../../database/pure.js';
import type { Kind, Tenant } from '../../record/index.js';

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
