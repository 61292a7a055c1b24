import type { Identity } from '../../../src/replication/ledger/identity.js';
import { type LogPlace, placeBehind } from '../../../src/replication/progress/place.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import { entryOf, identityOf, recordUnder } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { reconcileAll } from './filters.js';
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
  for (const { _id: owner, key, ...named } of seen) {
    yield* learn(watcher, { identity: identityOf(named), at, alive: true, owner }, []);
    yield;
    const clock = database.clock();
    yield;
    const record = database.now.records.get(key);
    if (record === undefined || !(isRepair || isStampNeeded(record.lastupdated, clock))) continue;
    const lastupdated = nextStamp(record.lastupdated, clock, watcher.fenceOf(record));
    database.write('stamps in passing', (tx) => tx.update(record, { ...record, lastupdated }));
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
      if (recordUnder(database.now, identity) === undefined)
        yield* learn(watcher, { identity, at, alive: false, shortLived: false }, []);
    } else if (isRepair) {
      const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(identity));
      database.write('stamps a tombstone in passing', (tx) =>
        tx.writeEntry(identity, { ...entry, lastupdated }),
      );
    }
  }
}

function lift(watcher: ModelWatcher, identity: Identity, at: LogPlace): void {
  watcher.world.database.write('makes an entry known anew', (tx) => {
    const entry = entryOf(tx.state, identity);
    if (entry !== undefined && entry.learned < at) tx.writeEntry(identity, { ...entry, learned: at });
  });
}
