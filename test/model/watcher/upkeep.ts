import type { mongo } from 'mongoose';
import {
  type LedgerChange,
  type Identity,
  identityKey,
  isSame,
} from '../../../src/replication/protocol/identity.js';
import { placeAfter } from '../../../src/replication/protocol/place.js';
import { isLookUpToDate, isWorkedThrough, isWorkedThroughByMain } from '../service/progress.js';
import { nextStamp } from '../twins/stamp.js';
import {
  APPLICATIONS,
  entryOf,
  identityOf,
  type ModelRecord,
  type ModelState,
  type StoredAside,
} from '../world/documents.js';
import { RefusedEntry } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld, WatcherLife } from '../world/world.js';
import { forgetComplete } from './incomplete.js';
import { learn } from './learning.js';
import { settle, stampOrSetAside } from './quarantine.js';
import { restampTombstone, reviveSeen } from './stamping.js';
import { settleLife } from './settle-life.js';
import { ModelWatcher } from './watcher.js';

/** An entry of the quarantine, and its record as of the look; undefined if there is no record. */
interface Look {
  entry: StoredAside;
  record: ModelRecord | undefined;
}

/** The moment of a look. A pass that comes between it and the end of the look finds out of what the look does not know. */
interface AsOf {
  at: mongo.Timestamp;
  isStill: () => boolean;
}

function isUpToDate(world: ModelWorld, at: mongo.Timestamp, appid: string): boolean {
  if (world.has('a look that a pass has overtaken')) return isWorkedThrough(world, at, appid);
  return isLookUpToDate(world, at, appid);
}

/**
 * The care of a leader for what was set aside, beside its stream. It may be overtaken without knowing. What is set aside is
 * remembered by record, whatever application it was in: it is looked at behind the loops of all of them, where no half is still to
 * come. Other loops may be behind, or at a pass.
 */
export function upkeepOf(world: ModelWorld, life: WatcherLife): ModelSteps {
  life.aftercare ??= lookAfterAll(world, life);
  return life.aftercare;
}

function* lookAfterAll(world: ModelWorld, life: WatcherLife): ModelSteps {
  while (!life.isLeftBehind) {
    yield;
    if (world.database.now.lease.term === life.term) yield* step(world, { term: life.term, life });
  }
}

function* step(world: ModelWorld, own: ModelWatcher['own']): ModelSteps {
  const { database } = world;
  const early = database.newest;
  yield;
  const entries = [...database.now.quarantine.values()];
  yield;
  const at = world.has('the moment of a look before what is looked at') ? early : database.newest;
  while (!isWorkedThroughByMain(world, at)) {
    if (own.life.isLeftBehind || database.now.lease.term !== own.term) return;
    yield;
  }
  const behind = new Set<string>(APPLICATIONS.filter((appid) => !isUpToDate(world, at, appid)));
  const due: StoredAside[] = [];
  for (const entry of entries) {
    const concerned = behind.size === 0 ? [] : yield* applicationsOf(world, entry, at);
    if (!concerned.some((appid) => behind.has(appid))) due.push(entry);
  }
  const isStill = () => APPLICATIONS.every((appid) => behind.has(appid) || isUpToDate(world, at, appid));
  yield* lookAfter(new ModelWatcher(world, own, undefined, undefined), due, { at, isStill });
}

/** The applications that an entry concerns: those in which its record is, was, and was shown. */
function* applicationsOf(world: ModelWorld, entry: StoredAside, at: mongo.Timestamp): ModelSteps<string[]> {
  const { database } = world;
  const key = String(ownerOf(entry));
  const present = database.asOf(at).records.get(key)?.appid;
  yield;
  const entries = [...database.now.ledger.values()];
  const owned = entries.filter((one) => one.key === key || (one.alive && String(one.owner) === key));
  yield;
  const partials = [...database.now.incomplete.values()].filter(({ record }) => record === key);
  const told = [...owned.map(({ identity }) => identity), ...partials, ...entry.identities, entry.known];
  return [present, ...told.map((one) => one?.appid)].filter((appid) => typeof appid === 'string');
}

/** As many together as succeed. What does not is looked after once more. */
function* lookAfter(watcher: ModelWatcher, entries: StoredAside[], asOf: AsOf): ModelSteps {
  const { at, isStill } = asOf;
  if (entries.length === 0) return;
  const isRecord = ({ _id }: StoredAside) => _id.what === 'record';
  try {
    yield* lookAtRecords(watcher, entries.filter(isRecord), at);
    yield* lookAtTombstones(
      watcher,
      entries.filter((entry) => !isRecord(entry)),
      at,
    );
    yield;
    if (!isStill()) return;
    yield;
    settle(watcher.world, entries);
  } catch (error) {
    if (!(error instanceof RefusedEntry)) throw error;
    if (entries.length === 1) return;
    const half = Math.ceil(entries.length / 2);
    yield* lookAfter(watcher, entries.slice(0, half), asOf);
    yield* lookAfter(watcher, entries.slice(half), asOf);
  }
}

/** What is seen as of a moment up to which everything is worked through is what the log up to there came to. */
function* lookAtRecords(watcher: ModelWatcher, entries: StoredAside[], asOf: mongo.Timestamp): ModelSteps {
  const { world } = watcher;
  const at = placeAfter(asOf);
  const { records } = world.database.asOf(asOf);
  const looks = entries.map((entry) => ({ entry, record: records.get(String(ownerOf(entry))) }));
  for (const death of yield* deathsOf(watcher, looks, records))
    yield* learnLate(watcher, { ...death, at, alive: false });
  const waiting = new Set<string>();
  for (const { record } of looks) {
    if (record === undefined) continue;
    const { _id: owner, key, isNumber } = record;
    const identity = identityOf(record);
    const life = { identity, at, alive: true as const, owner, ...(isNumber && { isNumber }) };
    const changes = yield* settleLife(watcher, life);
    if (changes.length === 0) waiting.add(key);
    for (const change of changes) if (yield* learnLate(watcher, change)) waiting.add(key);
  }
  for (const { entry } of looks) yield* forgetComplete(watcher, String(ownerOf(entry)), at, waiting);
  yield;
  const clock = world.database.clock();
  for (const { entry } of looks) {
    yield;
    const record = world.database.now.records.get(String(ownerOf(entry)));
    if (record === undefined) continue;
    const { above } = entry;
    const lastupdated = nextStamp(record.lastupdated, clock, above);
    yield* stampOrSetAside(world, () =>
      world.database.write('stamps what was set aside', (tx) => tx.stamp(record, lastupdated, above)),
    );
  }
}

/** For a mutant: whatever the ledger has learned since. */
function* learnLate(watcher: ModelWatcher, change: LedgerChange): ModelSteps<boolean> {
  const { world } = watcher;
  if (world.has('quarantine without its place')) {
    yield;
    world.database.write('forgets when it was learned', (tx) => {
      const entry = entryOf(tx.state, change.identity);
      if (entry !== undefined) tx.writeEntry(change.identity, { ...entry, learned: '' });
    });
  }
  return yield* learn(watcher, change, []);
}

/**
 * What the records were to consumers and are no more: what the ledger has of them, and what they were shown as meanwhile, but for
 * where another record stands. An entry that lives does not tell that: a term that was given up may have written it late.
 */
function* deathsOf(
  { world }: ModelWatcher,
  looks: Look[],
  records: ModelState['records'],
): ModelSteps<{ identity: Identity; shortLived: boolean }[]> {
  const present = new Map(
    looks.map(({ entry, record }) => [String(ownerOf(entry)), record && identityOf(record)]),
  );
  const { database } = world;
  yield;
  const owned = [...database.now.ledger.values()].filter(
    ({ alive, owner }) => alive && present.has(String(owner)),
  );
  const gone = owned.filter(({ identity, owner }) => !isSame(identity, present.get(String(owner))));
  const standing = new Set(
    [...present.values()].flatMap((identity) => (identity ? [identityKey(identity)] : [])),
  );
  yield;
  const shown = new Map(
    looks.flatMap(({ entry }) => entry.identities.map((one) => [identityKey(one), one] as const)),
  );
  const isLiving = (identity: Identity) => {
    const entry = entryOf(database.now, identity);
    if (entry?.alive !== true || world.has('whatever lives in the ledger taken for standing'))
      return entry?.alive;
    const owner = records.get(String(entry.owner));
    return owner !== undefined && isSame(identity, identityOf(owner));
  };
  const unlearned = [...shown].filter(([name, identity]) => !standing.has(name) && !isLiving(identity));
  return [
    ...gone.map(({ identity }) => ({ identity, shortLived: false })),
    ...unlearned.map(([, identity]) => ({ identity, shortLived: true })),
  ];
}

/**
 * A pass that could not confirm an entry sets it aside as well, and a term that was given up may write a life late where it was not
 * confirmed. So it is confirmed here, and one that lives without its record ends.
 */
function* lookAtTombstones(watcher: ModelWatcher, entries: StoredAside[], asOf: mongo.Timestamp): ModelSteps {
  const { world } = watcher;
  const { database } = world;
  const at = placeAfter(asOf);
  const owners = new Set(entries.map((entry) => String(ownerOf(entry))));
  const isConfirmed = !world.has('an entry that was set aside not confirmed');
  yield;
  const found = [...database.now.ledger.values()].filter(({ key }) => owners.has(key));
  if (isConfirmed)
    database.write('confirms what was set aside', (tx) => {
      for (const { identity } of found) {
        const entry = entryOf(tx.state, identity);
        if (entry !== undefined && entry.learned < at) tx.writeEntry(identity, { ...entry, learned: at });
      }
    });
  yield;
  const confirmed = found.flatMap(({ identity }) => entryOf(database.now, identity) ?? []);
  const { records } = database.asOf(asOf);
  for (const { identity, alive, owner } of confirmed) {
    if (!alive || !isConfirmed) continue;
    const record = records.get(String(owner));
    if (record !== undefined && isSame(identity, identityOf(record))) continue;
    yield* learnLate(watcher, { identity, at, alive: false, shortLived: false });
  }
  const dead = confirmed.filter(({ alive }) => !alive);
  yield;
  const clock = database.clock();
  for (const { identity } of dead) {
    yield;
    const entry = entryOf(database.now, identity);
    if (entry === undefined || entry.alive) continue;
    const lastupdated = nextStamp(entry.lastupdated, clock);
    yield* restampTombstone(watcher, 'stamps a hard delete that was set aside', { ...entry, lastupdated });
  }
  yield* reviveSeen(
    watcher,
    dead.map(({ identity }) => identity),
    at,
  );
}

function ownerOf({ _id }: StoredAside): unknown {
  return _id.what === 'services' ? undefined : _id.owner;
}
