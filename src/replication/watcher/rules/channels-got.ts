import { isObjectId } from '../../../record/pure.js';
import { inTenant, type KnownChannel, type StoredIdentity } from '../../ledger/pure.js';
import type { WatchedEvent } from '../../log/pure.js';
import type { Knowledge } from './knowledge.js';

/**
 * The channels that products got in these events, in the application that each product was in then. A look at the
 * products as they stand would miss what was carried for a moment only, and yet may have been shown to somebody.
 */
export function channelsGot(events: WatchedEvent[], owned: Knowledge['owned']): KnownChannel[] {
  const tenants = new Map<string, StoredIdentity>();
  return events.flatMap((event) => {
    if (event.type !== 'written' || !isObjectId(event.owner)) return [];
    const owner = event.owner.toHexString();
    const before = tenants.get(owner) ?? owned.get(owner)?.[0];
    const now = event.whole ? event.identity : { ...before, ...event.identity };
    tenants.set(owner, now);
    return inTenant(now, event.channels);
  });
}
