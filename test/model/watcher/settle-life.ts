import type { LedgerChange, Life, Identity } from '../../../src/replication/protocol/identity.js';
import { type LogPlace, rightAfter } from '../../../src/replication/protocol/place.js';
import { claimantsOf, entryOf } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { keepIncomplete } from './incomplete.js';
import { learn } from './learning.js';
import type { ModelWatcher } from './watcher.js';

/** What is learned of a record: with numbers it may have to wait for another one, or another one ends first. */
export function* settleLife(watcher: ModelWatcher, life: Life): ModelSteps<LedgerChange[]> {
  const { identity, at, owner, isNumber } = life;
  yield;
  const entry = entryOf(watcher.world.database.now, identity);
  const isHeld = entry?.alive === true && String(entry.owner) !== String(owner);
  if (!isHeld || !(isNumber || entry.isNumber)) return [life];
  const { appid, id, organizationid } = identity;
  const rival = { organizationid, appid, id, isNumber: true as const, learned: at };
  const waiting = isNumber ? owner : entry.owner;
  const claimants = claimantsOf(watcher.world.database.now, identity);
  if (claimants.some((record) => record.isNumber && record.key === String(waiting)))
    yield* keepIncomplete(watcher, String(waiting), rival);
  if (isNumber) yield* endVacant(watcher, identity, at);
  return isNumber ? [] : [{ ...life, afterDeath: true }];
}

/** Ends what a number waits for, where its record is not there any more. */
export function* endVacant(watcher: ModelWatcher, identity: Identity, at: LogPlace): ModelSteps {
  const { world } = watcher;
  if (world.has('a number waits for a record that is gone')) return;
  yield;
  const entry = entryOf(world.database.now, identity);
  yield;
  const isThere = claimantsOf(world.database.now, identity).some(({ key }) => key === String(entry?.owner));
  if (entry?.alive && !isThere)
    yield* learn(watcher, { identity, at: rightAfter(at), alive: false, shortLived: false }, []);
}
