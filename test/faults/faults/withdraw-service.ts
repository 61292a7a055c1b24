import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '../plan/index.js';
import type { World } from '../world/index.js';

interface Withdrawal {
  service: ServiceName;
  /** The filter and the fields that it comes back with. */
  view: number;
  /** Milliseconds. */
  away: number;
}

/** A service that is removed, and made again with another filter. */
export async function removeService({ operator }: World, { service, view, away }: Withdrawal): Promise<void> {
  await operator.remove(service);
  await wait(away);
  await operator.register(service, view);
}

/** A service that is switched off, and on again with another filter. */
export async function disableService(
  { operator }: World,
  { service, view, away }: Withdrawal,
): Promise<void> {
  await operator.disable(service);
  await wait(away);
  await operator.register(service, view);
}
