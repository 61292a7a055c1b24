import { CalmDice } from '../random/dice.js';
import { MANY_PLACES, PLACES, recordUnder } from '../world/documents.js';
import type { ModelWorld } from '../world/world.js';
import { changeOf, insertion } from '../writers/changes.js';
import { lanesOf } from '../watcher/lane.js';
import { nextStamp } from '../twins/stamp.js';
import { advance, endLease } from './turn.js';

const FAR = 60;
/** Steps in which a consumer's first request raises the mark. */
const TO_RAISE = 10;
/** Longer than hard deletes are kept (milliseconds). */
const LONG_MS = 1000;
const ROUNDS = 10;
/** Several small pages. */
const STOCK = 6;

/**
 * The first watcher has just begun a pass, and does not know that the second has overtaken it, has made a pass of its
 * own and leads; a mark was raised and passed. What a watcher may do that comes back late is seen soonest from here.
 */
export function overtaken(world: ModelWorld): void {
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

/** Each consumer holds records of which two are gone since, and the older one of their hard deletes is kept no longer. */
export function expired(world: ModelWorld): void {
  const { database } = world;
  world.dice = new CalmDice();
  for (const place of PLACES.slice(0, 3)) {
    const insert = insertion(world, place, nextStamp);
    database.write('a write', (tx) => insert(tx, database.clock()));
  }
  for (let round = 0; round < ROUNDS; round++) {
    advanceAll(world);
    for (const { steps } of world.consumers) advance(steps, FAR);
  }
  for (const place of PLACES.slice(0, 2)) {
    database.wall += 1;
    database.write('a write', (tx) => tx.remove(recordUnder(tx.state, place)!));
    advanceAll(world);
  }
  database.wall += LONG_MS;
}

/** Records of which those that stand first were changed last, and nobody has read one: a harvest tells great stamps early. */
export function stocked(world: ModelWorld): void {
  const { database } = world;
  world.dice = new CalmDice();
  const places = MANY_PLACES.slice(0, STOCK);
  const changes = [
    ...places.map((place) => insertion(world, place, nextStamp)),
    ...places.toReversed().map((place) => changeOf(world, place, nextStamp)),
  ];
  for (const change of changes) {
    database.wall += 1;
    database.write('a write', (tx) => change(tx, database.clock()));
  }
  for (let round = 0; round < ROUNDS; round++) advanceAll(world);
}

function advanceAll(world: ModelWorld): void {
  for (const { watcher } of world.instances) {
    advance(watcher.steps, FAR);
    for (const lane of lanesOf(watcher)) advance(lane, FAR);
  }
}
