import type { Tenant } from '../../../record/pure.js';
import type { KindEvent } from './decide.js';
import type { Knowledge } from './knowledge.js';
import { knownOf } from './learn.js';

/** How many events of a batch are about one application. */
export interface TenantEvents {
  tenant: Tenant;
  count: number;
}

/** The same by the name of the application. */
export type EventsByTenant = Map<string, TenantEvents>;

/** Counts the events whose application is known. */
export function countByTenant(
  counts: EventsByTenant,
  events: KindEvent[],
  { owned, partials, tombstones }: Pick<Knowledge, 'owned' | 'partials' | 'tombstones'>,
): void {
  for (const event of events) {
    const { organizationid, appid } = namesIn(event);
    if (typeof organizationid !== 'string' || typeof appid !== 'string') continue;
    const name = JSON.stringify([organizationid, appid]);
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { tenant: { organizationid, appid }, count: 1 });
    else known.count += 1;
  }

  function namesIn(event: KindEvent): { organizationid?: unknown; appid?: unknown } {
    if (event.type === 'announced') return event.mark;
    if (event.type === 'tombstone') return tombstones.get(event.entry.toHexString()) ?? {};
    const known = knownOf(String(event.owner), { owned, partials }) ?? {};
    return event.type === 'written' ? { ...known, ...event.identity } : known;
  }
}

/** The application with the most events, if it has at least this number of them. */
export function heaviest(counts: EventsByTenant, atLeast: number): Tenant | undefined {
  const most = [...counts.values()].reduce<TenantEvents | undefined>(
    (best, one) => (best !== undefined && best.count >= one.count ? best : one),
    undefined,
  );
  return most !== undefined && most.count >= atLeast ? most.tenant : undefined;
}
