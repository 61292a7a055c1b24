import type { mongo } from 'mongoose';
import type { WatchedEvent } from '../../../src/replication/log/watched-event.js';
import type { LogBatch } from '../world/database.js';
import type { ModelSteps } from '../world/steps.js';
import { justBefore, laterOf } from '../world/time.js';
import type { ModelWorld } from '../world/world.js';
import { workThrough } from './batches.js';
import { reconcileAll } from './filters.js';
import { publishHead } from './head.js';
import type { ModelWatcher } from './watcher.js';

const MOST_EVENTS = 6;
/** Of how many looks at a drained stream one looks at the filters too. */
const TIMER = 5;

/** Works one batch of the stream through; true where the term is over. */
export function* follow(watcher: ModelWatcher, token: number): ModelSteps<boolean> {
  const { world } = watcher;
  const { database } = world;
  const batch = database.read(token, 1 + world.dice.below(MOST_EVENTS));
  if (batch === undefined) return loseTrack(watcher);
  const watched = laterOf(watchedAfter(batch, database.newest), watcher.watched);
  const lost = batch.events.findIndex((event) => event.type === 'collectionLost');
  if (lost >= 0 && !world.has('rule 6 left out')) {
    yield* workThrough(watcher, batch.events);
    return loseTrack(watcher);
  }
  const due = { token: batch.token, watched };
  watcher.due = due;
  const save = () => watcher.save('saves token and watched', due);
  if (world.has('token stored before the effect') && !save()) return true;
  yield;
  const heads = yield* workThrough(watcher, batch.events);
  if (world.has('the token before the head') && !save()) return true;
  const head = yield* publishHead(watcher, heads);
  if (head !== 'written') return head === 'over';
  if (isTimeToReconcile(world, batch)) yield* reconcileAll(watcher);
  yield;
  watcher.token = batch.token;
  watcher.watched = watched;
  return !save();
}

/** On a timer: an overtaken watcher may have brought back what `services` asked for before. */
function isTimeToReconcile({ dice, profile }: ModelWorld, { events }: LogBatch): boolean {
  return events.length === 0 && profile.timer !== false && dice.below(TIMER) === TIMER - 1;
}

/** Only a pass can find out what happened. */
function loseTrack(watcher: ModelWatcher): boolean {
  watcher.token = undefined;
  return false;
}

/**
 * How far the log is worked through after a batch. All events of a transaction have one time and a batch may end among
 * them, so the time of the last event is reached only where it stands alone.
 */
function watchedAfter({ events, isDrained }: LogBatch, newest: mongo.Timestamp): mongo.Timestamp {
  const last = events.at(-1);
  const reached = last && reachedBy(last);
  return isDrained || reached === undefined ? laterOf(justBefore(newest), reached) : reached;
}

function reachedBy({ type, at }: WatchedEvent): mongo.Timestamp {
  return type === 'announced' ? at : justBefore(at);
}
