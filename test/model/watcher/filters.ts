import type { Filter } from '../../../src/application/filter.js';
import {
  type FilterVersionChange,
  judgedDifferently,
  wantedOf,
} from '../../../src/replication/filters/filter-version.js';
import { filterChange } from '../mutants/decisions.js';
import { nextStamp } from '../twins/stamp.js';
import { applicationOf } from '../writers/operator.js';
import type { ModelRecord } from '../world/documents.js';
import { matches } from '../world/matching.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import { stampOrSetAside } from './quarantine.js';
import type { ModelWatcher } from './watcher.js';

/** Rule 5: brings every entry of `effective` to what `services` asks for. */
export function* reconcileAll(watcher: ModelWatcher): ModelSteps {
  const { database } = watcher.world;
  yield;
  const names = new Set([...database.now.services.keys(), ...database.now.effective.keys()]);
  for (const name of [...names].filter((one) => watcher.owns(applicationOf(one))))
    while (!(yield* reconcile(watcher, name)));
}

/** False where another watcher came between: look again. */
function* reconcile({ world }: ModelWatcher, name: string): ModelSteps<boolean> {
  const { database } = world;
  const early = wantedOf(database.now.services.get(name));
  if (world.has('services read before effective')) yield;
  const entry = database.now.effective.get(name);
  if (entry?.pending) yield* stampDifference(world, name, entry);
  yield;
  const wanted = world.has('services read before effective')
    ? early
    : wantedOf(database.now.services.get(name));
  const change = filterChange(world.mutant, entry, wanted);
  if (change === undefined) return true;
  yield;
  if (!isStill(world, name, entry)) return false;
  const isForgotten = world.has('a removed service forgotten') && change.state === 'off';
  database.write(`${name} in force`, (tx) => tx.writeEffective(name, isForgotten ? undefined : change));
  if (change.pending) yield* stampDifference(world, name, change);
  return true;
}

/** Stamps anew what the filter and the one before judge differently, record by record with one clock. */
function* stampDifference(world: ModelWorld, name: string, entry: FilterVersionChange): ModelSteps {
  const { database } = world;
  const { filter, previous, pending: _pending, ...rest } = entry;
  if (filter === undefined || previous === undefined) return;
  yield;
  const clock = database.clock();
  for (const { key } of [...database.now.records.values()]) {
    const record = database.now.records.get(key);
    if (record === undefined || !isJudgedDifferently(record, name, { filter, previous })) continue;
    const lastupdated = nextStamp(record.lastupdated, clock);
    const stamp = () => database.write(`stamps for ${name}`, (tx) => tx.stamp(record, lastupdated));
    const isCounted = world.has('a refused record that counts as stamped') && database.refused.has(key);
    if (!isCounted) yield* stampOrSetAside(world, stamp);
    yield;
  }
  if (!isStill(world, name, entry)) return;
  database.write(`${name} done`, (tx) => tx.writeEffective(name, { ...rest, filter, pending: false }));
}

function isJudgedDifferently(
  record: ModelRecord,
  name: string,
  { filter, previous }: { filter: Filter; previous: Filter },
): boolean {
  return record.appid === applicationOf(name) && matches(judgedDifferently(filter, previous), record);
}

/** Compare-and-set: whether the entry has the version that was read. */
function isStill(world: ModelWorld, name: string, entry: FilterVersionChange | undefined): boolean {
  if (world.has('no compare-and-set')) return true;
  return world.database.now.effective.get(name)?.version === entry?.version;
}
