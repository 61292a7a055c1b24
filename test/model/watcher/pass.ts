import { isSame } from '../../../src/replication/ledger/identity.js';
import { type LogPlace, placeBehind } from '../../../src/replication/progress/place.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import { entryOf, identityOf, KIND, type ModelState, type StoredEntry } from '../world/documents.js';
import type { Concern } from '../../../src/replication/quarantine/set-aside.schema.js';
import { RefusedEntry } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import { reconcileAll } from './filters.js';
import { forget } from './incomplete.js';
import { learn } from './learning.js';
import { setAside, stampOrSetAside } from './quarantine.js';
import { settleLife } from './settle-life.js';
import { restampTombstone } from './stamping.js';
import type { ModelWatcher } from './watcher.js';

/**
 * The pass over everything that is there (design §3). What it learns is knowledge of the time at which the new stream
 * begins, so that whatever that stream tells overrides it. True where the term is over.
 */
export function* pass(watcher: ModelWatcher): ModelSteps<boolean> {
  const { database } = watcher.world;
  const { since, pass: begun } = database.now.lease;
  const isRepair = since !== undefined || begun !== undefined;
  watcher.giveUpLanes();
  const begin = { pass: isRepair ? 'repair' : 'first start', lanes: new Map() };
  if (!watcher.save('begins a pass', begin)) return true;
  yield;
  const token = database.end;
  const beginning = database.newest;
  const at = placeBehind(beginning);
  yield;
  watcher.takeMarksAsTheyStand();
  yield* passOver(watcher, at, isRepair);
  yield;
  const end = database.newest;
  yield;
  watcher.token = watcher.reaching = token;
  watcher.watched = beginning;
  return !watcher.save('ends a pass', { token, watched: beginning, since: end });
}

function* passOver(watcher: ModelWatcher, at: LogPlace, isRepair: boolean): ModelSteps {
  yield* forgetStale(watcher, at);
  yield* learnRecords(watcher, at, isRepair);
  yield* settleLedger(watcher, at, isRepair);
  yield* reconcileAll(watcher);
}

/** On the first start nobody has seen anything yet, so only bad stamps are repaired. */
function* learnRecords(watcher: ModelWatcher, at: LogPlace, isRepair: boolean): ModelSteps {
  const { database } = watcher.world;
  yield;
  const records = [...database.now.records.values()];
  for (const record of records) {
    const { _id: owner, key, isNumber } = record;
    const life = {
      identity: identityOf(record),
      at,
      alive: true as const,
      owner,
      ...(isNumber && { isNumber }),
    };
    yield* leaving(watcher, { what: 'record', kind: KIND, owner }, function* () {
      for (const change of yield* settleLife(watcher, life)) yield* learn(watcher, change, []);
    });
    yield;
    const clock = database.clock();
    yield;
    const present = database.now.records.get(key);
    if (present === undefined || !(isRepair || isStampNeeded(present.lastupdated, clock))) continue;
    const lastupdated = nextStamp(present.lastupdated, clock, watcher.fenceOf(present));
    yield* stampOrSetAside(watcher.world, () =>
      database.write('stamps in passing', (tx) => tx.stamp(present, lastupdated)),
    );
  }
}

/** Of an ignored number that is gone, or claims its text no longer, no event tells any more. */
function* forgetStale(watcher: ModelWatcher, at: LogPlace): ModelSteps {
  yield;
  const { incomplete, records } = watcher.world.database.now;
  for (const { record: key, appid, id } of incomplete.values()) {
    const record = records.get(key);
    if (record?.isNumber && record.appid === appid && record.id === id) continue;
    yield;
    forget(watcher, key, at);
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
  for (const { _id, identity } of [...database.now.ledger.values()]) {
    if (!world.has('entries that keep their age in a pass')) yield* lift(watcher, { _id, identity }, at);
    yield;
    const entry = entryOf(database.now, identity);
    if (entry === undefined) continue;
    if (entry.alive) {
      if (!isOwned(database.now, entry))
        yield* leaving(watcher, { what: 'record', kind: KIND, owner: entry.owner! }, () =>
          learn(watcher, { identity, at, alive: false, shortLived: false }, []),
        );
    } else if (isRepair) {
      const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(identity));
      yield* restampTombstone(watcher, 'stamps a tombstone in passing', { ...entry, lastupdated });
    }
  }
}

/** What the ledger refuses is set aside; the pass goes on. */
function* leaving({ world }: ModelWatcher, concern: Concern, work: () => ModelSteps<unknown>): ModelSteps {
  try {
    yield* work();
  } catch (error) {
    yield* leave(world, concern, error);
  }
}

function* leave(world: ModelWorld, concern: Concern, error: unknown): ModelSteps {
  if (!(error instanceof RefusedEntry)) throw error;
  yield* setAside(world, concern);
}

function isOwned(state: ModelState, { identity, owner }: StoredEntry): boolean {
  const record = state.records.get(String(owner));
  return record !== undefined && isSame(identity, identityOf(record));
}

function* lift(
  { world }: ModelWatcher,
  { _id, identity }: Pick<StoredEntry, '_id' | 'identity'>,
  at: LogPlace,
): ModelSteps {
  try {
    world.database.write('makes an entry known anew', (tx) => {
      const entry = entryOf(tx.state, identity);
      if (entry !== undefined && entry.learned < at) tx.writeEntry(identity, { ...entry, learned: at });
    });
  } catch (error) {
    yield* leave(world, { what: 'tombstone', owner: _id }, error);
  }
}
