import type { mongo } from 'mongoose';
import type { Life, Identity } from '../../../src/replication/protocol/identity.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import type { Late } from '../../../src/replication/protocol/decide.js';
import { lifeAfter } from '../twins/entry-after.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import { claimantsOf, entryOf, recordUnder, type StoredEntry } from '../world/documents.js';
import { RefusedEntry } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import { stampReborn } from './learning.js';
import { reviveOrSetAside, setAsideRefused, stampOrSetAside } from './quarantine.js';
import type { ModelWatcher } from './watcher.js';

/** Rule 1: in one bulk, which has one clock, but record by record. */
export function* stampLate(watcher: ModelWatcher, late: Late[]): ModelSteps {
  const { database } = watcher.world;
  yield;
  const clock = database.clock();
  for (const { _id, fence } of late) {
    yield;
    const record = database.now.records.get(_id.toHexString());
    if (record === undefined || !isStampNeeded(record.lastupdated, clock, fence)) continue;
    const lastupdated = nextStamp(record.lastupdated, clock, watcher.fenceOf(record));
    yield* stampOrSetAside(watcher.world, () =>
      database.write('stamps a late record', (tx) => tx.stamp(record, lastupdated)),
    );
  }
}

/** Rule 2: the same for tombstones, unless they live again. */
export function* stampLateTombstones(watcher: ModelWatcher, late: Late[]): ModelSteps {
  const { database } = watcher.world;
  const keys = new Map(late.map((one) => [one._id.toHexString(), one.fence]));
  yield;
  const clock = database.clock();
  for (const { key, identity } of [...database.now.ledger.values()]) {
    if (!keys.has(key)) continue;
    yield;
    const entry = entryOf(database.now, identity);
    if (entry === undefined || entry.alive) continue;
    if (!isStampNeeded(entry.lastupdated, clock, keys.get(key))) continue;
    const lastupdated = nextStamp(entry.lastupdated, clock, watcher.fenceOf(identity));
    yield* restampTombstone(watcher, 'stamps a late tombstone', { ...entry, lastupdated });
  }
}

/** Writes a tombstone with its new stamp, or sets it aside where the ledger refuses that. */
export function* restampTombstone({ world }: ModelWatcher, what: string, entry: StoredEntry): ModelSteps {
  try {
    world.database.write(what, (tx) => tx.writeEntry(entry.identity, entry));
  } catch (error) {
    if (!(error instanceof RefusedEntry)) throw error;
    yield* setAsideRefused(world, { what: 'tombstone', owner: entry._id });
  }
}

/** Records with a number, which feeds have left out so far, whatever their stamp is. */
export function* reveal(watcher: ModelWatcher, revealed: mongo.ObjectId[]): ModelSteps {
  const { database } = watcher.world;
  yield;
  const clock = database.clock();
  for (const _id of revealed) {
    yield;
    const record = database.now.records.get(_id.toHexString());
    if (record === undefined) continue;
    const lastupdated = nextStamp(record.lastupdated, clock, watcher.fenceOf(record));
    yield* stampOrSetAside(watcher.world, () =>
      database.write('reveals a number', (tx) => tx.stamp(record, lastupdated)),
    );
  }
}

/**
 * Rule 4: a tombstone was seen while a record stands under its identity, which thereby lives again: the text, else a number
 * that was ignored so far. What was seen is learned once more behind it: the entry may have been removed meanwhile.
 */
export function* reviveSeen(watcher: ModelWatcher, seen: Identity[], at: LogPlace): ModelSteps {
  const { database } = watcher.world;
  for (const identity of seen) {
    yield;
    const life = claimantOf(watcher, identity, at);
    if (life === undefined) continue;
    const clock = database.clock();
    yield;
    const revive = (stamp: boolean) =>
      database.write('revives what a tombstone denies', (tx) => {
        const entry = entryOf(tx.state, identity);
        if (entry === undefined || entry.alive || entry.learned > life.at) return;
        tx.writeEntry(identity, lifeAfter(entry, life));
        if (stamp) stampReborn(watcher, tx, life, entry, clock);
      });
    yield* reviveOrSetAside(watcher.world, revive);
    if (watcher.world.has('a look gives a living entry another owner'))
      yield* giveAnotherOwner(watcher, life);
    yield* learnUnknown(watcher, life);
  }
}

/** For a mutant: whatever lives there by what is known of no later place. */
function* giveAnotherOwner({ world: { database } }: ModelWatcher, life: Life): ModelSteps {
  yield;
  database.write('gives a living entry another owner', (tx) => {
    const entry = entryOf(tx.state, life.identity);
    if (entry?.alive && entry.learned <= life.at) tx.writeEntry(life.identity, lifeAfter(entry, life));
  });
}

/** An entry that was removed meanwhile is learned anew. */
function* learnUnknown({ world }: ModelWatcher, { identity, at, owner, isNumber }: Life): ModelSteps {
  yield;
  world.database.write('learns what is unknown', (tx) => {
    if (entryOf(tx.state, identity) !== undefined) return;
    tx.writeEntry(identity, { alive: true, owner, learned: at, ...(isNumber && { isNumber }) });
  });
}

/**
 * Who lives again: the text as it stands, else the number that the death has ended, else the first of the ignored ones. A number does as of the death, where
 * that is of a later place: the look is behind both.
 */
function claimantOf({ world }: ModelWatcher, identity: Identity, at: LogPlace): Life | undefined {
  const state = world.database.now;
  const text = recordUnder(state, identity);
  if (text !== undefined) return { identity, at, alive: true, owner: text._id };
  const rivals = [...state.incomplete].filter(
    ([, { isNumber, appid, id }]) => isNumber && appid === identity.appid && id === identity.id,
  );
  const { number, learned: died = '' } = entryOf(state, identity) ?? {};
  const ended = world.has('a tombstone without the number that it has ended') ? '' : String(number);
  const claimants = claimantsOf(state, identity).filter(({ isNumber }) => isNumber);
  const rival =
    claimants.find(({ key }) => key === ended) ??
    claimants.find(({ key }) => rivals.some(([, { record }]) => record === key));
  if (rival === undefined) return undefined;
  return { identity, at: died > at ? died : at, alive: true, owner: rival._id, isNumber: true };
}
