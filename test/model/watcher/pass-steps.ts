import { isSame } from '../../../src/replication/protocol/identity.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import type { Concern } from '../../../src/replication/store/collections.schema.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import {
  entryOf,
  identityOf,
  KIND,
  type ModelRecord,
  type ModelState,
  type StoredEntry,
} from '../world/documents.js';
import { RefusedEntry } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import { forget } from './incomplete.js';
import { learn } from './learning.js';
import { setAside, stampOrSetAside } from './quarantine.js';
import { settleLife } from './settle-life.js';
import { restampTombstone, reviveSeen } from './stamping.js';
import type { ModelWatcher } from './watcher.js';

/** A pass, over all that belongs to the loop. */
export interface ModelPassRun {
  /** Where its stream was opened. */
  at: LogPlace;
  isRepair: boolean;
  /** The document up to which the step is done already. */
  behind?: string;
  /** How far the stream is worked through; absent: it begins behind the pass. */
  reached?: () => LogPlace;
  /** Told of each document that is done. */
  advance?: (key: string) => ModelSteps;
}

/** Of an ignored number that is gone, or claims its text no longer, no event tells any more. */
export function* forgetStale(watcher: ModelWatcher, { at }: ModelPassRun): ModelSteps {
  yield;
  const { incomplete, records } = watcher.world.database.now;
  for (const { record: key, appid, id } of incomplete.values()) {
    const record = records.get(key);
    if (record?.isNumber && record.appid === appid && record.id === id) continue;
    if (!watcher.owns(appid as string)) continue;
    yield;
    forget(watcher, key, at);
  }
}

/** On the first start nobody has seen anything yet, so only bad stamps are repaired. */
export function* learnRecords(watcher: ModelWatcher, run: ModelPassRun): ModelSteps {
  const { database } = watcher.world;
  const { isRepair } = run;
  yield;
  const records = [...database.now.records.values()].filter(({ appid }) => watcher.owns(appid));
  for (const listed of leftIn(run, records)) {
    const { key } = listed;
    const record = run.reached ? database.now.records.get(key) : listed;
    if (record === undefined || !watcher.owns(record.appid)) continue;
    const { _id: owner, isNumber } = record;
    const life = {
      identity: identityOf(record),
      at: placeToLearn(watcher, record, run),
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
    if (!watcher.owns(present.appid)) continue;
    const lastupdated = nextStamp(present.lastupdated, clock, watcher.fenceOf(present));
    yield* stampOrSetAside(watcher.world, () =>
      database.write('stamps in passing', (tx) => tx.stamp(present, lastupdated)),
    );
    if (run.advance) yield* run.advance(key);
  }
}

/**
 * Numbers, and texts under which a number is known, are learned as of where the stream has come by then: a number may have to take the
 * place of a record that the stream has told the end of, and a text that of a number that it has told. That may be of a later place
 * where the pass was cut off: the look is behind both.
 */
function placeToLearn({ world }: ModelWatcher, record: ModelRecord, { at, reached }: ModelPassRun): LogPlace {
  const entry = entryOf(world.database.now, identityOf(record));
  const isOfNumber = entry?.alive === true && entry.isNumber === true;
  if (reached === undefined || !(record.isNumber || isOfNumber)) return at;
  const isLater = !record.isNumber && isOfNumber && entry.learned > reached();
  return isLater && !world.has('a text learned of an earlier place than its number')
    ? entry.learned
    : reached();
}

/**
 * Every entry is known as of the beginning of the new stream before anybody looks whether it lives: else an overtaken
 * watcher could write down afterwards what it saw before that stream, and nobody would ever hear of the end of it. A
 * living entry without its record is a delete; after a lost history tombstones are stamped anew.
 */
export function* settleLedger(watcher: ModelWatcher, run: ModelPassRun): ModelSteps {
  const { database } = watcher.world;
  yield;
  const clock = database.clock();
  for (const listed of ownEntries(watcher)) {
    const entry = yield* lifted(watcher, listed, run);
    if (entry === undefined) continue;
    if (entry.alive) yield* buryGone(watcher, entry, run);
    else if (run.isRepair) yield* restamp(watcher, entry, clock);
  }
}

/** Of a pass that works through its stream meanwhile: the same before records are learned, but for what is gone. */
export function* confirmLedger(watcher: ModelWatcher, run: ModelPassRun): ModelSteps {
  const { database } = watcher.world;
  for (const listed of leftIn(run, ownEntries(watcher))) {
    const { identity, key } = listed;
    if ((yield* lifted(watcher, listed, run))?.alive === false) {
      yield* leaving(watcher, { what: 'tombstone', owner: listed._id }, () =>
        reviveSeen(watcher, [identity], run.at),
      );
      yield;
      const clock = database.clock();
      yield;
      const entry = entryOf(database.now, identity);
      if (entry?.alive === false && run.isRepair) yield* restamp(watcher, entry, clock);
    }
    if (run.advance) yield* run.advance(key);
  }
}

/** What is gone, once records are learned. */
export function* buryAllGone(watcher: ModelWatcher, run: ModelPassRun): ModelSteps {
  yield;
  for (const listed of leftIn(run, ownEntries(watcher))) {
    yield;
    const entry = entryOf(watcher.world.database.now, listed.identity);
    if (entry?.alive) yield* buryGone(watcher, entry, run);
    if (run.advance) yield* run.advance(listed.key);
  }
}

function leftIn<T extends { key: string }>({ behind }: ModelPassRun, documents: T[]): T[] {
  if (behind === undefined) return documents;
  const inOrder = documents.sort((one, other) => (one.key < other.key ? -1 : 1));
  return inOrder.filter(({ key }) => key > behind);
}

function ownEntries(watcher: ModelWatcher): StoredEntry[] {
  return [...watcher.world.database.now.ledger.values()].filter(({ identity }) =>
    watcher.owns(identity.appid),
  );
}

/** An entry once it is known as of the beginning of the stream. */
function* lifted(
  watcher: ModelWatcher,
  { _id, identity }: StoredEntry,
  { at }: ModelPassRun,
): ModelSteps<StoredEntry | undefined> {
  const { world } = watcher;
  if (!world.has('entries that keep their age in a pass')) yield* lift(watcher, { _id, identity }, at);
  yield;
  return entryOf(world.database.now, identity);
}

function* buryGone(
  watcher: ModelWatcher,
  { identity, owner }: StoredEntry,
  { at }: ModelPassRun,
): ModelSteps {
  if (isOwned(watcher.world.database.now, { identity, owner: owner! })) return;
  yield* leaving(watcher, { what: 'record', kind: KIND, owner: owner! }, () =>
    learn(watcher, { identity, at, alive: false, shortLived: false }, []),
  );
}

function* restamp(watcher: ModelWatcher, entry: StoredEntry, clock: Date): ModelSteps {
  const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(entry.identity));
  yield* restampTombstone(watcher, 'stamps a tombstone in passing', { ...entry, lastupdated });
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

function isOwned(state: ModelState, { identity, owner }: Pick<StoredEntry, 'identity' | 'owner'>): boolean {
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
