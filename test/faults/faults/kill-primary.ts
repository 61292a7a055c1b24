import { eventually } from '../../support/index.js';
import type { World } from '../world/index.js';

const ELECTED_MS = 120_000;

/** `kill -9` of the primary of a set; it comes back as a secondary after another was elected. */
export async function killPrimary({ set }: World): Promise<void> {
  await set.healthy();
  const primary = await set.primary();
  if (primary === undefined) throw new Error('A healthy set has a primary');
  await primary.kill();
  await eventually(async () => (await set.primary()) !== undefined, ELECTED_MS);
  primary.start();
  await set.healthy();
}
