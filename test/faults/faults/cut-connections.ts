import { setTimeout as wait } from 'node:timers/promises';
import type { Which } from '../plan/index.js';
import type { Ending, World } from '../world/index.js';

/** The connections of one instance to the server, ended again and again, as balancers and routers do. */
export async function cutConnections(
  world: World,
  { which, ending, times, pause }: { which: Which; ending: Ending; times: number; pause: number },
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    world.way(which).cut(ending);
    await wait(pause);
  }
  await world.service(which).ready();
}

/** A black hole between one instance and the server: connections stand, and nothing comes through until it is over. */
export async function blackHole(
  world: World,
  { which, away }: { which: Which; away: number },
): Promise<void> {
  world.way(which).swallow();
  await wait(away);
  world.way(which).release();
  await world.service(which).ready();
}
