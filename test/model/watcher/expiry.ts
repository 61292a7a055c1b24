import { raiseMark } from '../service/raise.js';
import { isWorkedThrough } from '../service/progress.js';
import { APPLICATION, type ModelState, type StoredEntry } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, ModelWorld } from '../world/world.js';

/** For how long hard deletes are kept (milliseconds); the heal of a world takes longer. */
const KEPT_MS = 20;

/** The removal of expired hard deletes, beside the stream. Any instance may be at it: it may have been overtaken. */
export function expiryOf(world: ModelWorld, instance: Instance): ModelSteps {
  instance.expiry ??= expire(world, instance);
  return instance.expiry;
}

function* expire(world: ModelWorld, instance: Instance): ModelSteps {
  for (;;) {
    yield;
    yield* removeExpired(world, instance);
  }
}

function* removeExpired(world: ModelWorld, instance: Instance): ModelSteps {
  const { database } = world;
  const [at, upTo] = [database.newest, new Date(database.clock().getTime() - KEPT_MS)];
  while (!isWorkedThrough(world, at, APPLICATION)) yield;
  if (lastToGo(world, upTo) === undefined || !(yield* raiseMark(world, instance, APPLICATION))) return;
  yield;
  const last = lastToGo(world, upTo);
  if (last === undefined) return;
  yield;
  if (!world.has('hard deletes removed without a horizon')) yield* moveHorizon(world, last);
  for (const { identity, key } of tombstonesIn(database.now)) {
    yield;
    database.write('removes a hard delete', (tx) => {
      const still = tombstonesIn(tx.state).find((entry) => entry.key === key);
      if (still !== undefined && still.lastupdated! <= last) tx.removeEntry(identity);
    });
  }
}

function* moveHorizon({ database }: ModelWorld, to: Date): ModelSteps {
  database.write('moves the horizon', (tx) => tx.moveHorizon(to));
  yield;
}

/** The greatest stamp of the expired ones that are older than the newest of all. */
function lastToGo(world: ModelWorld, upTo: Date): Date | undefined {
  const stamps = tombstonesIn(world.database.now)
    .map(({ lastupdated }) => lastupdated!)
    .sort((one, other) => other.getTime() - one.getTime());
  const newest = world.has('the newest hard delete removed as well') ? undefined : stamps[0];
  return stamps.find((stamp) => stamp <= upTo && (newest === undefined || stamp < newest));
}

function tombstonesIn({ ledger }: ModelState): StoredEntry[] {
  return [...ledger.values()].filter(({ alive, identity }) => !alive && identity.appid === APPLICATION);
}
