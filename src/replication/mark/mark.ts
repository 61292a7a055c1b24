import type { Kind, Tenant } from '../../record/index.js';

/** What a mark is about: each application and kind has one. */
export interface MarkKey extends Tenant {
  kind: Kind;
}

/** The one document of `tidemark.marks` for an application and kind (design §3, Mark). */
export interface Mark {
  _id: MarkKey;
  /** The highest clock value ever announced. */
  fence: Date;
  /** How often it was raised: makes each raise a change, and so an event, even where the clock stands still. */
  raises: number;
  /** Fence and number of the raise in one text, since an event shows only fields that changed. */
  announced: string;
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
