import type { LedgerChange, Life } from '../../../src/replication/ledger/changes.js';
import type { Identity } from '../../../src/replication/ledger/identity.js';
import { type LogPlace, placeBehind } from '../../../src/replication/progress/place.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import {
  claimantsOf,
  entryOf,
  identityOf,
  type ModelState,
  recordUnder,
  type StoredEntry,
} from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { reconcileAll } from './filters.js';
import { forget, keepIncomplete } from './incomplete.js';
import { learn } from './learning.js';
import type { ModelWatcher } from './watcher.js';

/**
 * The pass over everything that is there (design §3). What it learns is knowledge of the time at which the new stream
 * begins, so that whatever that stream tells overrides it. True where the term is over.
 */
export function* pass(watcher: ModelWatcher): ModelSteps<boolean> {
  const { database } = watcher.world;
  const { since, pass: begun } = database.now.lease;
  const isRepair = since !== undefined || begun !== undefined;
  if (!watcher.save('begins a pass', { pass: isRepair ? 'repair' : 'first start' })) return true;
  yield;
  const token = database.end;
  const beginning = database.newest;
  const at = placeBehind(beginning);
  yield;
  watcher.takeMarksAsTheyStand();
  yield* forgetStale(watcher, at);
  yield* learnRecords(watcher, at, isRepair);
  yield* settleLedger(watcher, at, isRepair);
  yield* reconcileAll(watcher);
  yield;
  const end = database.newest;
  yield;
  watcher.token = token;
  watcher.watched = beginning;
  return !watcher.save('ends a pass', { token, watched: beginning, since: end });
}

/** On the first start nobody has seen anything yet, so only bad stamps are repaired. */
function* learnRecords(watcher: ModelWatcher, at: LogPlace, isRepair: boolean): ModelSteps {
  const { database } = watcher.world;
  yield;
  const seen = [...database.now.records.values()];
  for (const record of seen) {
    const { _id: owner, key, isNumber } = record;
    const life = {
      identity: identityOf(record),
      at,
      alive: true as const,
      owner,
      ...(isNumber && { isNumber }),
    };
    for (const change of yield* settle(watcher, life)) yield* learn(watcher, change, []);
    yield;
    const clock = database.clock();
    yield;
    const present = database.now.records.get(key);
    if (present === undefined || !(isRepair || isStampNeeded(present.lastupdated, clock))) continue;
    const lastupdated = nextStamp(present.lastupdated, clock, watcher.fenceOf(present));
    database.write('stamps in passing', (tx) => tx.update(present, { ...present, lastupdated }));
  }
}

/** What is learned of a record: with numbers it may have to wait for another one, or another one ends first. */
function* settle(watcher: ModelWatcher, life: Life): ModelSteps<LedgerChange[]> {
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

/** Of an ignored number that is gone, or claims its text no longer, no event tells any more. */
function* forgetStale({ world }: ModelWatcher, at: LogPlace): ModelSteps {
  yield;
  const { incomplete, records } = world.database.now;
  for (const [key, { appid, id }] of incomplete) {
    const record = records.get(key);
    if (record?.isNumber && record.appid === appid && record.id === id) continue;
    yield;
    forget(world, key, at);
  }
}

/**
 * Every entry is known as of the beginning of the new stream before anybody looks whether it lives: else an overtaken
 * watcher could write down afterwards what it saw before that stream, and nobody would ever hear of the end of it. A
 * living entry without its record is a delete; after a lost history tombstones are stamped anew.
 */
function* settleLedger(watcher: ModelWatcher, at: LogPlace, isRepair: boolean): ModelSteps {
  const { world } = watcher;
  const { database } = world;
  yield;
  const clock = database.clock();
  for (const { identity } of [...database.now.ledger.values()]) {
    if (!world.has('entries that keep their age in a pass')) lift(watcher, identity, at);
    yield;
    const entry = entryOf(database.now, identity);
    if (entry === undefined) continue;
    if (entry.alive) {
      if (!isOwned(database.now, entry))
        yield* learn(watcher, { identity, at, alive: false, shortLived: false }, []);
    } else if (isRepair) {
      const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(identity));
      database.write('stamps a tombstone in passing', (tx) =>
        tx.writeEntry(identity, { ...entry, lastupdated }),
      );
    }
  }
}

function isOwned(state: ModelState, { identity, owner, isNumber }: StoredEntry): boolean {
  if (!isNumber) return recordUnder(state, identity) !== undefined;
  return claimantsOf(state, identity).some(({ key }) => key === String(owner));
}

function lift(watcher: ModelWatcher, identity: Identity, at: LogPlace): void {
  watcher.world.database.write('makes an entry known anew', (tx) => {
    const entry = entryOf(tx.state, identity);
    if (entry !== undefined && entry.learned < at) tx.writeEntry(identity, { ...entry, learned: at });
  });
}
