import { setTimeout as wait } from 'node:timers/promises';
import type { World } from '../world/index.js';

/** `kill -9` of the server (of every one, where there are more), away for some milliseconds. */
export async function killMongod({ set }: World, { away }: { away: number }): Promise<void> {
  await Promise.all(set.members.map((member) => member.kill()));
  await wait(away);
  set.members.forEach((member) => member.start());
  await set.healthy();
}
