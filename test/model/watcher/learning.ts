import type { LedgerChange } from '../../../src/replication/ledger/changes.js';
import type { KindEvent } from '../../../src/replication/watcher/rules/decide.js';
import { isResurrectionHandled } from '../mutants/decisions.js';
import { entryAfter, isResurrection, type KnownEntry } from '../twins/entry-after.js';
import { nextStamp } from '../twins/stamp.js';
import { entryOf, recordUnder } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Transaction } from '../world/transaction.js';
import type { ModelWatcher } from './watcher.js';

/** Writes into the ledger what was learned of an identity: its life, its death, or its resurrection. */
export function* learn(watcher: ModelWatcher, change: LedgerChange, cause: KindEvent[]): ModelSteps {
  const { world } = watcher;
  const { database } = world;
  const { identity } = change;
  yield;
  const clock = database.clock();
  yield;
  if (world.has('ledger entry dropped before its tombstone') && !change.alive) {
    yield* dropThenBury(watcher, change, clock);
    return;
  }
  database.write(change.alive ? 'learns a life' : 'learns a death', (tx) => {
    const entry = entryOf(tx.state, identity);
    const after = entryAfter(entry, change, clock);
    if (after === undefined || after === entry) return;
    tx.writeEntry(identity, after);
    if (isResurrection(entry, change) && isResurrectionHandled(world.mutant, change, cause))
      stampReborn(watcher, tx, change, entry, clock);
  });
}

/** The record that lives again, whichever it is by now, is stamped above its tombstone in the same transaction. */
function stampReborn(
  watcher: ModelWatcher,
  tx: Transaction,
  { identity }: LedgerChange,
  { lastupdated: died }: KnownEntry,
  clock: Date,
): void {
  const record = recordUnder(tx.state, identity);
  if (record === undefined) return;
  const fence = watcher.fenceOf(identity);
  const above = died !== undefined && (fence === undefined || died > fence) ? died : fence;
  tx.update(record, { ...record, lastupdated: nextStamp(record.lastupdated, clock, above) });
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
