import { CalmDice } from '../random/dice.js';
import type { World } from '../world/world.js';
import { advance, endLease } from './turn.js';

const FAR = 60;
/** Steps in which a consumer's first request raises the mark. */
const TO_RAISE = 10;

/**
 * The first watcher has just begun a pass, and does not know that the second has overtaken it, has made a pass of its
 * own and leads; a mark was raised and passed. What a watcher may do that comes back late is seen soonest from here.
 */
export function overtaken(world: World): void {
  const [first, second] = world.instances;
  const [consumer] = world.consumers;
  if (first === undefined || second === undefined || consumer === undefined) return;
  world.dice = new CalmDice();
  advance(first.watcher.steps, 2);
  endLease(world);
  advance(second.watcher.steps, FAR);
  advance(consumer.steps, TO_RAISE);
  advance(second.watcher.steps, FAR);
}
