import { identityOf } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import { ANY_STAMPING, planStamp } from './stamps.js';
import { type WriterChange, changeOf, planChange } from './changes.js';

const CHANCE_TRANSACTION = 0.15;
const CHANCE_MANY = 0.05;

/** A writer that begins now: whatever it does is decided now and committed later. */
export function newWriter(world: ModelWorld): ModelSteps {
  const { dice } = world;
  if (dice.chance(CHANCE_TRANSACTION)) return transaction(world, 2 + dice.below(2));
  if (dice.chance(CHANCE_MANY)) return updateMany(world);
  return single(world);
}

function* single(world: ModelWorld): ModelSteps {
  const { database } = world;
  const change = planChange(world);
  const clock = database.clock();
  yield;
  database.write('a write', (tx) => change(tx, clock));
}

/** Held open for any time: its statements have the clocks of their beginnings, and all are seen at once. */
function* transaction(world: ModelWorld, statements: number): ModelSteps {
  const { database } = world;
  const changes: { change: WriterChange; clock: Date }[] = [];
  while (changes.length < statements) {
    changes.push({ change: planChange(world), clock: database.clock() });
    yield;
  }
  database.write('a transaction', (tx) => changes.forEach(({ change, clock }) => change(tx, clock)));
}

/** One clock for all, but each record by itself. */
function* updateMany(world: ModelWorld): ModelSteps {
  const { database, dice, profile } = world;
  const give = planStamp(dice, profile.stamps ?? ANY_STAMPING);
  const clock = database.clock();
  for (const { key } of [...database.now.records.values()]) {
    yield;
    const record = database.now.records.get(key);
    if (record === undefined) continue;
    const change = changeOf(world, identityOf(record), give);
    database.write('an update of many', (tx) => change(tx, clock));
  }
}
