import type { mongo } from 'mongoose';
import type { WatchedEvent } from '../../../src/replication/log/watched-event.js';
import type { LogBatch } from '../world/database.js';
import type { ModelSteps } from '../world/steps.js';
import { justBefore, laterOf } from '../world/time.js';
import type { ModelWorld } from '../world/world.js';
import { APPLICATIONS } from '../world/documents.js';
import { entriesToStore, joinLanes, putAside, saveEntries } from './aside.js';
import { workThrough } from './batches.js';
import { reconcileAll } from './filters.js';
import { publishHeads } from './head.js';
import { enqueue, isFull, route, shortenQueue } from './queue.js';
import type { ModelWatcher } from './watcher.js';

const MOST_EVENTS = 6;
/** Of how many looks at a drained stream one looks at the filters too. */
const TIMER = 5;

/** Works one batch of the stream through; true where the term is over. */
export function* follow(watcher: ModelWatcher, token: number): ModelSteps<boolean> {
  const { world } = watcher;
  const { database, profile } = world;
  if (profile.lanes !== undefined) {
    if (!joinLanes(watcher)) return true;
    if (isFull(world)) {
      shortenQueue(world);
      if (isFull(world)) return false;
    }
  }
  const batch = database.read(token, 1 + world.dice.below(MOST_EVENTS));
  if (batch === undefined) return loseTrack(watcher);
  const watched = laterOf(watchedAfter(batch, database.newest), watcher.watched);
  const lost = batch.events.findIndex((event) => event.type === 'collectionLost');
  if (lost >= 0 && !world.has('rule 6 left out')) {
    yield* workThrough(watcher, batch.events);
    return loseTrack(watcher);
  }
  const turn = somePutAside(watcher, token);
  const { own, queued } = yield* route(watcher, token, batch.events);
  const entries = entriesToStore(watcher, turn);
  const due = { token: batch.token, watched };
  watcher.due = due;
  const isEntryLate = world.has('lane entry stored after the token of main');
  const save = () =>
    entries.size === 0 || isEntryLate
      ? watcher.save('saves token and watched', due)
      : saveEntries(watcher, `puts ${[...entries.keys()].join()} aside`, { ...due, entries });
  if (world.has('token stored before the effect') && !save()) return true;
  yield;
  const heads = yield* workThrough(watcher, own);
  if (world.has('the token before the head') && !save()) return true;
  const head = yield* publishHeads(watcher, heads);
  if (head !== 'written') return head === 'over';
  if (isTimeToReconcile(world, batch)) yield* reconcileAll(watcher);
  yield;
  const isQueueLate = world.has('the queue after the token');
  if (!isQueueLate) enqueue(watcher, batch, { queued, first: token, watched });
  if (queued.length > 0) yield;
  watcher.token = batch.token;
  watcher.watched = watched;
  if (!save()) return true;
  if (isQueueLate || isEntryLate) yield;
  if (isQueueLate) enqueue(watcher, batch, { queued, first: token, watched });
  return isEntryLate && entries.size > 0 && !saveEntries(watcher, 'puts aside late', { entries });
}

/** Which work would hold up others is not for the model to say: any application may be put aside at any batch. */
function somePutAside(watcher: ModelWatcher, token: number): number | undefined {
  const { dice, profile } = watcher.world;
  const { lanes } = profile;
  if (lanes === undefined || !dice.chance(lanes.aside)) return undefined;
  const appid = dice.pick(APPLICATIONS);
  if (!watcher.owns(appid)) return undefined;
  return putAside(watcher, appid, { place: token, isRepair: dice.chance(lanes.pass) });
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
