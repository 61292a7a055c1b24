import { isDeepStrictEqual } from 'node:util';
import type { Crowd, PatientClient } from '../consumers/index.js';
import type { World } from '../world/index.js';
import { itemsOf } from './expected-items.js';

const COMPLETE_HARVESTS = 2;

/**
 * Waits until nothing moves any more: the log is worked through to its end, every consumer has harvested completely
 * twice since, and neither the source nor `max` has changed meanwhile. Fails when it is not so within the time
 * (milliseconds).
 */
export async function quiet(
  world: World,
  { crowd, clients, within }: { crowd: Crowd; clients: readonly PatientClient[]; within: number },
): Promise<void> {
  const end = Date.now() + within;
  for (;;) {
    await world.caughtUp(end - Date.now());
    const before = await everything(world, clients);
    await crowd.harvested(COMPLETE_HARVESTS, end - Date.now());
    await world.caughtUp(end - Date.now());
    if (isDeepStrictEqual(await everything(world, clients), before)) return;
  }
}

function everything(world: World, clients: readonly PatientClient[]) {
  return Promise.all(
    clients.flatMap((client) =>
      world
        .kinds(client.tenant)
        .map(
          async (kind) =>
            [await client.max(kind), await itemsOf(world.source, kind, { tenant: client.tenant })] as const,
        ),
    ),
  );
}
