import type { LedgerChange, Life } from '../../../src/replication/protocol/identity.js';
import type { KindEvent } from '../../../src/replication/protocol/decide.js';
import { isResurrectionHandled } from '../mutants/decisions.js';
import { entryAfter, isResurrection, type KnownEntry } from '../twins/entry-after.js';
import { nextStamp } from '../twins/stamp.js';
import { entryOf, recordUnder } from '../world/documents.js';
import { forget, keepIncomplete } from './incomplete.js';
import { reviveOrSetAside } from './quarantine.js';
import { reviveSeen } from './stamping.js';
import type { ModelSteps } from '../world/steps.js';
import type { Transaction } from '../world/transaction.js';
import type { ModelWatcher } from './watcher.js';

/**
 * Writes into the ledger what was learned of an identity: its life, its death, or its resurrection. Answers whether it is a
 * number that has to wait.
 */
export function* learn(watcher: ModelWatcher, change: LedgerChange, cause: KindEvent[]): ModelSteps<boolean> {
  const { world } = watcher;
  const { database } = world;
  const { identity } = change;
  if (change.alive && change.afterDeath) yield* endLifeBefore(watcher, change);
  yield;
  const clock = database.clock();
  yield;
  if (change.alive && isWaiting(watcher, change)) return yield* wait(watcher, change);
  if (world.has('ledger entry dropped before its tombstone') && !change.alive) {
    yield* dropThenBury(watcher, change, clock);
    return false;
  }
  const revive = (stamp: boolean) =>
    database.write(change.alive ? 'learns a life' : 'learns a death', (tx) => {
      const entry = entryOf(tx.state, identity);
      const after = entryAfter(entry, change, clock);
      if (after === undefined || after === entry) return;
      tx.writeEntry(identity, after);
      if (stamp && isResurrection(entry, change) && isResurrectionHandled(world.mutant, change, cause))
        stampReborn(watcher, tx, change as Life, entry, clock);
    });
  yield* reviveOrSetAside(world, revive);
  if (!change.alive) return false;
  if (yield* isOvertaken(watcher, change)) {
    if (change.isNumber) return yield* wait(watcher, change);
    yield* endLifeBefore(watcher, change);
    yield* reviveOrSetAside(world, revive);
  }
  yield* forgetRival(watcher, change);
  return false;
}

/**
 * A number that was not a text in the same batch always waits, also for a death at a later place, since no event reports that
 * death again. One that was a text is restored like a text: a moment within the batch may show it.
 */
function isWaiting({ world }: ModelWatcher, { identity, at, isNumber, wasText }: Life): boolean {
  if (!isNumber) return false;
  const entry = entryOf(world.database.now, identity);
  return entry?.alive === false && !(wasText && entry.learned <= at);
}

/** Since it was looked who lives there, a term that was given up may have put another record there. */
function* isOvertaken({ world }: ModelWatcher, { identity, owner }: Life): ModelSteps<boolean> {
  yield;
  const entry = entryOf(world.database.now, identity);
  return entry?.alive === true && String(entry.owner) !== String(owner);
}

/** What lived there until now leaves its tombstone. */
function* endLifeBefore({ world }: ModelWatcher, { identity, owner, at }: Life): ModelSteps {
  const { database } = world;
  yield;
  const clock = database.clock();
  yield;
  database.write('ends the life before', (tx) => {
    const entry = entryOf(tx.state, identity);
    if (!entry?.alive || String(entry.owner) === String(owner)) return;
    const after = entryAfter(entry, { identity, at, alive: false, shortLived: false }, clock);
    if (after !== undefined && after !== entry) tx.writeEntry(identity, after);
  });
}

/** A number may not be the only one that claims a dead identity: it waits with the others, and rule 4 brings one back. */
function* wait(watcher: ModelWatcher, { identity, owner, at }: Life): ModelSteps<boolean> {
  const { appid, id, organizationid } = identity;
  const rival = { organizationid, appid, id, isNumber: true as const, learned: at };
  yield* keepIncomplete(watcher, String(owner), rival);
  yield* reviveSeen(watcher, [identity], at);
  const entry = entryOf(watcher.world.database.now, identity);
  return !entry?.alive || String(entry.owner) !== String(owner);
}

/** A number that the ledger has as an owner claims nothing any more. */
function* forgetRival(watcher: ModelWatcher, { identity, owner, isNumber }: Life): ModelSteps {
  if (!isNumber) return;
  yield;
  const entry = entryOf(watcher.world.database.now, identity);
  if (entry?.alive && String(entry.owner) === String(owner)) forget(watcher, String(owner), entry.learned);
}

/**
 * The record that lives again is stamped above its tombstone in the same transaction: a number is that of its record; a
 * text may have moved on to another one by now.
 */
export function stampReborn(
  watcher: ModelWatcher,
  tx: Transaction,
  { identity, owner, isNumber }: Life,
  { lastupdated: died }: KnownEntry,
  clock: Date,
): void {
  const record = isNumber ? tx.state.records.get(String(owner)) : recordUnder(tx.state, identity);
  if (record === undefined) return;
  const fence = watcher.fenceOf(identity);
  const above = died !== undefined && (fence === undefined || died > fence) ? died : fence;
  tx.stamp(record, nextStamp(record.lastupdated, clock, above), above);
}

function* dropThenBury({ world }: ModelWatcher, change: LedgerChange, clock: Date): ModelSteps {
  const { database } = world;
  const entry = entryOf(database.now, change.identity);
  const after = entryAfter(entry, change, clock);
  if (after === undefined || after === entry) return;
  database.write('drops an entry', (tx) => tx.removeEntry(change.identity));
  yield;
  database.write('buries it', (tx) => tx.writeEntry(change.identity, after));
}
