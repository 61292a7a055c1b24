import type { Identity } from '../../../src/replication/ledger/identity.js';
import type { LogPlace } from '../../../src/replication/progress/place.js';
import type { Late } from '../../../src/replication/stamping/late.js';
import { isStampNeeded, nextStamp } from '../twins/stamp.js';
import { entryOf, recordUnder } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
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
    database.write('stamps a late record', (tx) => tx.update(record, { ...record, lastupdated }));
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
    database.write('stamps a late tombstone', (tx) => tx.writeEntry(identity, { ...entry, lastupdated }));
  }
}

/** Rule 4: a tombstone was seen while a record stands under its identity, which thereby lives again. */
export function* reviveSeen(watcher: ModelWatcher, seen: Identity[], at: LogPlace): ModelSteps {
  const { database } = watcher.world;
  for (const identity of seen) {
    yield;
    const clock = database.clock();
    yield;
    database.write('revives what a tombstone denies', (tx) => {
      const entry = entryOf(tx.state, identity);
      const record = recordUnder(tx.state, identity);
      if (entry === undefined || entry.alive || entry.learned > at || record === undefined) return;
      tx.writeEntry(identity, { alive: true, owner: record._id, learned: at });
      const fence = watcher.fenceOf(identity);
      const died = entry.lastupdated!;
      const above = fence === undefined || died > fence ? died : fence;
      tx.update(record, { ...record, lastupdated: nextStamp(record.lastupdated, clock, above) });
    });
  }
}
