import { setTimeout as wait } from 'node:timers/promises';
import type { Which } from '../plan/index.js';
import type { World } from '../world/index.js';

/** `kill -9` of a service, away for some milliseconds. */
export async function killService(world: World, fault: { which: Which; away: number }): Promise<void> {
  const service = world.service(fault.which);
  await service.kill();
  await wait(fault.away);
  await service.start();
  await service.ready();
}
