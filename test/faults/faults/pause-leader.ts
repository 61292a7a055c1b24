import { eventually } from '../../support/index.js';
import type { World } from '../world/index.js';

const TAKEN_OVER_MS = 120_000;

/** The leader held still past its lease; it wakes up as soon as the other leads, in the middle of what it did. */
export async function pauseLeader(world: World): Promise<void> {
  const leader = await world.leader();
  const standby = world.services.find((service) => service !== leader);
  leader.pause();
  try {
    await eventually(() => standby?.leads(), TAKEN_OVER_MS);
  } finally {
    leader.resume();
  }
}
