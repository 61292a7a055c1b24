import type { Filter } from '../../../src/application/filter.js';
import { type FilterVersionChange, differingIn } from '../../../src/replication/protocol/filter-version.js';
import { filterChange } from '../mutants/decisions.js';
import { wantedIn } from '../service/wanted.js';
import { nextStamp } from '../twins/stamp.js';
import { applicationOf } from '../writers/operator.js';
import type { ModelRecord } from '../world/documents.js';
import { matches } from '../world/matching.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld, WatcherLife } from '../world/world.js';
import { stampOrSetAside } from './quarantine.js';
import type { ModelWatcher } from './watcher.js';

/** Rule 5: brings every entry of `effective` to what `services` asks for, whichever loop has the application. */
export function* reconcileAll(watcher: ModelWatcher): ModelSteps {
  const { database } = watcher.world;
  yield;
  const names = new Set([...database.now.services.keys(), ...database.now.effective.keys()]);
  for (const name of names)
    yield* alone(watcher.world, watcher.own, function* () {
      while (!(yield* reconcile(watcher.world, name)));
    });
}

/** After a change of `services`, and as a term begins: looks at all of them, or leaves them to a look beside the stream. */
export function* lookAtChanged(watcher: ModelWatcher): ModelSteps {
  const { world, own } = watcher;
  const { services, effective } = world.database.now;
  if (world.profile.waiting === undefined || world.dice.chance(0.3)) return yield* reconcileAll(watcher);
  for (const name of [...services.keys(), ...effective.keys()]) own.life.waiting.add(name);
}

/** Looks for a leader at what waits, beside its loops. It may be overtaken without knowing. */
export function lookingOf(world: ModelWorld, life: WatcherLife): ModelSteps {
  life.looking ??= lookBeside(world, life);
  return life.looking;
}

export function isLookDue({ waiting, isLooking }: WatcherLife): boolean {
  return isLooking || waiting.size > 0;
}

function* lookBeside(world: ModelWorld, life: WatcherLife): ModelSteps {
  while (!life.isLeftBehind) {
    yield;
    const { term, waiting } = life;
    if (term === undefined || waiting.size === 0) continue;
    const name = world.dice.pick([...waiting]);
    waiting.delete(name);
    life.isLooking = true;
    yield* alone(world, { term, life }, function* () {
      while (!(yield* reconcile(world, name)));
    });
    life.isLooking = false;
  }
}

/** Stamps for a leader what edited filters judge differently, beside its loops. It may be overtaken without knowing. */
export function stampingOf(world: ModelWorld, life: WatcherLife): ModelSteps {
  life.stamping ??= stampAll(world, life);
  return life.stamping;
}

export function isStampingDue({ database }: ModelWorld): boolean {
  return [...database.now.effective.values()].some(({ pending }) => pending);
}

function* stampAll(world: ModelWorld, life: WatcherLife): ModelSteps {
  const { database } = world;
  while (!life.isLeftBehind) {
    yield;
    const { term } = life;
    if (term === undefined || database.now.lease.term !== term) continue;
    const pending = [...database.now.effective].filter(([, entry]) => entry.pending);
    if (pending.length === 0) continue;
    const [name, entry] = world.dice.pick(pending);
    yield* stampDifference(world, name, entry);
    yield* alone(world, { term, life }, function* () {
      while (!(yield* reconcile(world, name, entry.version)));
    });
  }
}

/** One look at the filters of a term follows the other. */
function* alone(world: ModelWorld, { term, life }: ModelWatcher['own'], look: () => ModelSteps): ModelSteps {
  const isApart = world.has('an edit looked at while a stamping ends');
  while (!isApart && life.looksIn === term) yield;
  life.looksIn = term;
  yield* look();
  delete life.looksIn;
}

/** False where another watcher came between: look again. What is pending is left, but for the version that is stamped. */
function* reconcile(world: ModelWorld, name: string, stamped?: number): ModelSteps<boolean> {
  const { database } = world;
  const early = wantedIn(database.now, name);
  if (world.has('services read before effective')) yield;
  const entry = database.now.effective.get(name);
  const isReplaced = world.has('an edit replaces one that is being stamped');
  if (entry?.pending && entry.version !== stamped && !isReplaced) return true;
  yield;
  const wanted = world.has('services read before effective') ? early : wantedIn(database.now, name);
  const change = filterChange(world.mutant, entry, wanted);
  if (change === undefined && entry?.pending !== true) return true;
  if (change === undefined && entry?.version !== stamped) return true;
  yield;
  if (!isStill(world, name, entry)) return false;
  const { previous: _previous, ...settled } = { ...entry!, pending: false };
  const next = change ?? settled;
  const isForgotten = world.has('a removed service forgotten') && next.state === 'off';
  database.write(`${name} in force`, (tx) => tx.writeEffective(name, isForgotten ? undefined : next));
  return true;
}

/** Stamps anew what the filter and the one before judge differently, record by record with one clock. */
function* stampDifference(world: ModelWorld, name: string, entry: FilterVersionChange): ModelSteps {
  const { database } = world;
  const { filter, previous } = entry;
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
}

function isJudgedDifferently(
  record: ModelRecord,
  name: string,
  { filter, previous }: { filter: Filter; previous: Filter },
): boolean {
  return (
    record.appid === applicationOf(name) &&
    matches(differingIn({ filter, previous }) ?? { $nor: [{}] }, record)
  );
}

/** Compare-and-set: whether the entry has the version that was read. */
function isStill(world: ModelWorld, name: string, entry: FilterVersionChange | undefined): boolean {
  if (world.has('no compare-and-set')) return true;
  return world.database.now.effective.get(name)?.version === entry?.version;
}
