import type { Tenant } from '../../record/pure.js';
import type { KindEvent } from './decide.js';
import { type Knowledge, knownOf } from './learn.js';

/** The number of events in a batch that concern one application. */
interface TenantEvents {
  tenant: Tenant;
  count: number;
}

/** {@link TenantEvents} by the name of the application. */
export type EventsByTenant = Map<string, TenantEvents>;

/** Counts the events whose application is known. */
export function countByTenant(
  counts: EventsByTenant,
  events: KindEvent[],
  { owned, partials, tombstones }: Pick<Knowledge, 'owned' | 'partials' | 'tombstones'>,
): void {
  let last: TenantEvents | undefined;
  for (const event of events) {
    const { organizationid, appid } = namesIn(event);
    if (typeof organizationid !== 'string' || typeof appid !== 'string') continue;
    // Consecutive events are mostly of the same application.
    if (last?.tenant.organizationid === organizationid && last.tenant.appid === appid) last.count += 1;
    else last = addToCount(counts, { tenant: { organizationid, appid }, count: 1 });
  }

  function namesIn(event: KindEvent): { organizationid?: unknown; appid?: unknown } {
    if (event.type === 'announced') return event.mark;
    if (event.type === 'tombstone') return tombstones.get(event.entry.toHexString()) ?? {};
    const known = knownOf(String(event.owner), { owned, partials }) ?? {};
    return event.type === 'written' ? { ...known, ...event.identity } : known;
  }
}

/** Adds to the number of events of an application. Returns the sum. */
export function addToCount(counts: EventsByTenant, { tenant, count }: TenantEvents): TenantEvents {
  const name = JSON.stringify([tenant.organizationid, tenant.appid]);
  const known = counts.get(name) ?? { tenant, count: 0 };
  known.count += count;
  counts.set(name, known);
  return known;
}

/** The application with the most events, if it has at least `atLeast` of them. */
export function heaviest(counts: EventsByTenant, atLeast: number): Tenant | undefined {
  const most = [...counts.values()].reduce<TenantEvents | undefined>(
    (best, one) => (best !== undefined && best.count >= one.count ? best : one),
    undefined,
  );
  return most !== undefined && most.count >= atLeast ? most.tenant : undefined;
}
