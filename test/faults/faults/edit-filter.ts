import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '../plan/index.js';
import type { World } from '../world/index.js';

/** An operator who changes his mind: one filter after the other, with milliseconds in between. */
export async function editFilter(
  { operator }: World,
  fault: { service: ServiceName; filters: number[]; pause: number },
): Promise<void> {
  for (const filter of fault.filters) {
    await operator.register(fault.service, filter);
    await wait(fault.pause);
  }
}
