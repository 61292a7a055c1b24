import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import { placeAfter } from '../../../src/replication/protocol/place.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld, WatcherLife } from '../world/world.js';
import { buryAllGone, confirmLedger, forgetStale, learnRecords, type ModelPassRun } from './pass-steps.js';
import { ModelWatcher } from './watcher.js';

/** The pass over the records of a created kind, beside the loops of a leader. It may be overtaken without knowing. */
export function kindPassOf(world: ModelWorld, life: WatcherLife): ModelSteps {
  life.kindPass ??= passesOver(world, life);
  return life.kindPass;
}

/** The loss of its collection concerns a created kind alone. */
export function isOfCreatedKind({ database }: ModelWorld): boolean {
  return database.now.lease.kind !== undefined;
}

/** Whether the kind waits for its pass, or is under it. */
export function isKindDue({ database }: ModelWorld): boolean {
  const { kind } = database.now.lease;
  return kind !== undefined && kind.since === undefined;
}

/**
 * The collection of a created kind was lost within these events: a pass over it is due once more, unless the last one began after
 * that. True where the term is over.
 */
export function* loseKind(watcher: ModelWatcher, events: WatchedEvent[]): ModelSteps<boolean> {
  const { world, own } = watcher;
  for (const { type, place } of events) {
    if (type !== 'collectionLost') continue;
    if (place > (own.life.kindLostAt ?? '')) own.life.kindLostAt = place;
    if ((own.life.kindBegunAt ?? '') > place || isKindDue(world)) continue;
    if (!watcher.save('a pass over the kind is due', { kind: { pass: { isRepair: true } } })) return true;
    yield;
  }
  return false;
}

/**
 * Whether the pass of one application covers the kind. A pass over the kind that is reading may have read records of the application
 * before that one's stream was opened, and main leaves the application to it: what changed in between only its own pass can find.
 */
export function isKindCovered({ world, isKindReading }: ModelWatcher): boolean {
  const isLeftOut = world.has('a kind under its pass left out of passes of one application');
  return !isKindDue(world) || (isKindReading && !isLeftOut);
}

/** The history of the log is lost: the pass has to begin again once the next stream is open. */
export function interruptKindPass(watcher: ModelWatcher): void {
  watcher.own.life.kindPass = undefined;
  watcher.isKindReading = false;
}

function* passesOver(world: ModelWorld, life: WatcherLife): ModelSteps {
  while (!life.isLeftBehind) {
    yield;
    const { main } = life;
    if (main === undefined || !isKindDue(world)) continue;
    if (!main.hasStream && !world.has('a pass over the kind before the stream')) continue;
    if (world.database.now.lease.term === main.own.term) yield* passOver(main);
  }
}

/** It has no stream of its own: what it learns is knowledge of the end of the log, which the loops override. */
function* passOver(main: ModelWatcher): ModelSteps {
  const { world, own } = main;
  const { database } = world;
  yield;
  const at = placeAfter(database.newest);
  yield;
  const isBare = database.now.ledger.size === 0;
  const isRepair = database.now.lease.kind?.pass?.isRepair ?? !isBare;
  main.isKindReading = true;
  own.life.kindBegunAt = at;
  yield;
  if (!main.save('a pass over the kind begins', { kind: { pass: { isRepair } } })) return;
  const all = new ModelWatcher(world, own, undefined, undefined);
  all.takeMarksAsTheyStand();
  const reached = () => {
    const { watched } = database.now.lease;
    return watched !== undefined && placeAfter(watched) > at ? placeAfter(watched) : at;
  };
  const run: ModelPassRun = { at, isRepair, behind: '', reached };
  yield* forgetStale(all, run);
  if (!isBare) yield* confirmLedger(all, run);
  yield* learnRecords(all, run);
  yield* buryAllGone(all, run);
  yield;
  const since = database.newest;
  yield;
  const isLost = (own.life.kindLostAt ?? '') > at;
  if (isLost && !world.has('a loss of the collection that the pass over the kind has not seen')) {
    main.isKindReading = false;
    return;
  }
  main.save('the pass over the kind ends', { kind: { since } });
  main.isKindReading = false;
}
