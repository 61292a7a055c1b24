import type { Which } from '../plan/index.js';
import type { World } from '../world/index.js';

/** A service stopped in good order and started again, as in a rolling update. */
export async function restartService(world: World, { which }: { which: Which }): Promise<void> {
  const service = world.service(which);
  await service.stop();
  await service.start();
  await service.ready();
}
