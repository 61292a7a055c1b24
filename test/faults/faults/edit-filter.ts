import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '../plan/index.js';
import type { World } from '../world/index.js';

/** An operator who changes his mind: one filter with its fields after the other, with milliseconds in between. */
export async function editFilter(
  { operator }: World,
  fault: { service: ServiceName; views: number[]; pause: number },
): Promise<void> {
  for (const view of fault.views) {
    await operator.register(fault.service, view);
    await wait(fault.pause);
  }
}
