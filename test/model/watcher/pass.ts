import type { mongo } from 'mongoose';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import { entryOf, identityOf, recordUnder } from '../world/documents.js';
import type { Steps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import { reconcileAll } from './filters.js';
import { learn } from './learning.js';
import type { Watcher } from './watcher.js';

/**
 * The pass over everything that is there (design §3). What it learns is knowledge of the time at which the new stream
 * begins, so that whatever that stream tells overrides it. True where the term is over.
 */
export function* pass(watcher: Watcher): Steps<boolean> {
  const { database } = watcher.world;
  const { since, pass: begun } = database.now.lease;
  const isRepair = since !== undefined || begun !== undefined;
  if (!watcher.save('begins a pass', { pass: isRepair ? 'repair' : 'first start' })) return true;
  yield;
  const token = database.end;
  const at = database.newest;
  yield;
  watcher.takeMarksAsTheyStand();
  yield* learnRecords(watcher, at, isRepair);
  yield* findDeletes(watcher, at);
  if (isRepair) yield* stampTombstones(watcher, at);
  yield* reconcileAll(watcher);
  yield;
  const end = database.newest;
  yield;
  watcher.token = token;
  watcher.watched = at;
  return !watcher.save('ends a pass', { token, watched: at, since: end });
}

/** On the first start nobody has seen anything yet, so only bad stamps are mended. */
function* learnRecords(watcher: Watcher, at: mongo.Timestamp, isRepair: boolean): Steps {
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

function* findDeletes(watcher: Watcher, at: mongo.Timestamp): Steps {
  const { database } = watcher.world;
  yield;
  const living = [...database.now.ledger.values()].filter((entry) => entry.alive);
  for (const { identity } of living) {
    yield;
    if (recordUnder(database.now, identity) !== undefined) continue;
    yield* learn(watcher, { identity, at, alive: false, shortLived: false }, []);
  }
}

/**
 * What is dead is dead as of the beginning of the new stream: else an overtaken watcher in a pass of its own could bring
 * to life what died before that stream, and nobody would ever hear of the death again.
 */
function* stampTombstones(watcher: Watcher, at: mongo.Timestamp): Steps {
  const { database } = watcher.world;
  yield;
  const clock = database.clock();
  for (const { identity } of [...database.now.ledger.values()]) {
    yield;
    const entry = entryOf(database.now, identity);
    if (entry === undefined || entry.alive) continue;
    const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(identity));
    const isKept = watcher.world.has('tombstones that keep their age in a pass');
    const learned = isKept ? entry.learned : laterOf(at, entry.learned);
    database.write('stamps a tombstone in passing', (tx) =>
      tx.writeEntry(identity, { ...entry, lastupdated, learned }),
    );
  }
}
