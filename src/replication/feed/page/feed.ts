import type { mongo } from 'mongoose';
import type { Kind, Tenant } from '../../../record/index.js';
import type { Behind, Window } from '../query/window.js';

/** One feed of an application, as a path names it. */
export interface Feed {
  kind: Kind;
  shows: 'updates' | 'softdeletes' | 'harddeletes';
  /** Whose filter decides; nothing for hard deletes. */
  by?: { service: string } | { channel: string };
}

/** All that changed, in one: of a service, or of a channel. */
export interface ChangesFeed {
  kind: Kind;
  by: { service: string } | { channel: string };
}

/** A name that no other feed of any application has, and nothing else that is read as feeds are. */
export function nameOf(
  { organizationid, appid }: Tenant,
  { kind, shows, by }: Feed | (ChangesFeed & { shows: 'changes' | 'digest' }),
): string {
  return JSON.stringify([organizationid, appid, kind, shows, by]);
}

/** What changed and matches the service's filter. */
export function updatesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'updates', by: { service } };
}

/** What changed and does not match the service's filter; nothing where it filters nothing. */
export function softDeletesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'softdeletes', by: { service } };
}

/** What is gone. 410 `history-expired` where `from` lies before what is kept. */
export function hardDeletesOf(kind: Kind): Feed {
  return { kind, shows: 'harddeletes' };
}

/** The products that changed and are in the channel. */
export function channelUpdates(channel: string): Feed {
  return { kind: 'product', shows: 'updates', by: { channel } };
}

/** The products that changed and are not in the channel. */
export function channelSoftDeletes(channel: string): Feed {
  return { kind: 'product', shows: 'softdeletes', by: { channel } };
}

/** Where the next page begins: behind an `_id`, and behind so many items more where these are not read yet. */
interface PagePlace {
  lastoffsetid: mongo.ObjectId | undefined;
  behind?: Behind;
}

/**
 * The header that leads to the page of the same window at another place (contract §1): a query alone, which is read as one of
 * the path that was asked for, whatever a proxy has put before that.
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
