import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '../plan/index.js';
import type { World } from '../world/index.js';

interface Withdrawal {
  service: ServiceName;
  /** The filter that it comes back with. */
  filter: number;
  /** Milliseconds. */
  away: number;
}

/** A service that is removed, and made again with another filter. */
export async function removeService(
  { operator }: World,
  { service, filter, away }: Withdrawal,
): Promise<void> {
  await operator.remove(service);
  await wait(away);
  await operator.register(service, filter);
}

/** A service that is switched off, and on again with another filter. */
export async function disableService(
  { operator }: World,
  { service, filter, away }: Withdrawal,
): Promise<void> {
  await operator.disable(service);
  await wait(away);
  await operator.register(service, filter);
}
