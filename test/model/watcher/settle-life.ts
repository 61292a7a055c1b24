import type { LedgerChange, Life } from '../../../src/replication/ledger/changes.js';
import { claimantsOf, entryOf } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { keepIncomplete } from './incomplete.js';
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
  return isNumber ? [] : [{ ...life, afterDeath: true }];
}
