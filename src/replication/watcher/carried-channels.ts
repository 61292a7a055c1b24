import { mongo } from 'mongoose';
import type { KnownChannel } from '../ledger/index.js';
import type { StoredIdentity, WatchedEvent } from './events.js';
import { isDeliverable, type PresentRecord } from './mending.js';
import type { Owned } from './rules.js';

/** The channels that these products carry. */
export function carriedChannels(products: PresentRecord[]): KnownChannel[] {
  return products.filter(isDeliverable).flatMap((product) => inTenant(product, product.channels));
}

/**
 * The channels that products got in these events, in the application that each product was in then. A look at the
 * products as they stand would miss what was carried for a moment only, and yet may have been shown to somebody.
 */
export function channelsGot(events: WatchedEvent[], owned: Owned): KnownChannel[] {
  const tenants = new Map<string, StoredIdentity>();
  return events.flatMap((event) => {
    if (event.type !== 'written' || !(event.owner instanceof mongo.ObjectId)) return [];
    const owner = event.owner.toHexString();
    const before = tenants.get(owner) ?? owned.get(owner)?.[0];
    const now = event.whole ? event.identity : { ...before, ...event.identity };
    tenants.set(owner, now);
    return inTenant(now, event.channels);
  });
}

function inTenant(
  { organizationid, appid }: { organizationid?: unknown; appid?: unknown },
  channels: string[],
): KnownChannel[] {
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return [];
  return channels.map((channel) => ({ organizationid, appid, channel }));
}
