import type { mongo } from 'mongoose';
import { CHANNEL_KIND, type Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import type { Behind, Window } from '../query/window.js';

/** One feed of an application, as a path names it. */
export interface Feed {
  kind: Kind;
  shows: 'updates' | 'softdeletes' | 'harddeletes';
  /** The service or channel that filters the feed; absent for hard deletes. */
  by?: { service: string } | { channel: string };
}

/** All changes of a service or a channel, including deletes, in one feed. */
export interface ChangesFeed {
  kind: Kind;
  by: { service: string } | { channel: string };
}

/** A name that is unique among the feeds and digests of all applications. */
export function nameOf(
  { organizationid, appid }: Tenant,
  { kind, shows, by }: Feed | (ChangesFeed & { shows: 'changes' | 'digest' }),
): string {
  return JSON.stringify([organizationid, appid, kind, shows, by]);
}

/** The records that changed and match the service's filter. */
export function updatesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'updates', by: { service } };
}

/** The records that changed and do not match the service's filter; empty if the service has no filter. */
export function softDeletesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'softdeletes', by: { service } };
}

/** The deleted records. A page is 410 `history-expired` if `from` is earlier than the retained history. */
export function hardDeletesOf(kind: Kind): Feed {
  return { kind, shows: 'harddeletes' };
}

/** The products that changed and are in the channel. */
export function channelUpdates(channel: string): Feed {
  return { kind: CHANNEL_KIND, shows: 'updates', by: { channel } };
}

/** The products that changed and are not in the channel. */
export function channelSoftDeletes(channel: string): Feed {
  return { kind: CHANNEL_KIND, shows: 'softdeletes', by: { channel } };
}

/** Where the next page begins: after an `_id` and, if they are not read yet, after a number of further items. */
interface PagePlace {
  lastoffsetid: mongo.ObjectId | undefined;
  behind?: Behind;
}

/**
 * The header that links to another page of the same window (contract §1). It is a query-only reference. A client resolves it
 * against the path that it requested, so a prefix added by a proxy is kept.
 */
export function linkTo({ from, to, limit }: Window, place: PagePlace): Record<string, string> {
  const { lastoffsetid, behind } = place;
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    ...(lastoffsetid && { lastoffsetid: lastoffsetid.toHexString() }),
    ...(behind && { behind: textOf(behind) }),
  });
  return { Link: `<?${query.toString()}>; rel="next"` };
}

function textOf({ items, at }: Behind): string {
  return `${items}-${at.toBigInt().toString(16).padStart(16, '0')}`;
}

/** The page that a request asks for: the window of its parameters. */
export interface PageRequest {
  window: Window;
}
