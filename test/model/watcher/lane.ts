import type { StoredLane } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld, WatcherLife } from '../world/world.js';
import { placeBehind } from '../../../src/replication/progress/place.js';
import { join } from './aside.js';
import { workThrough } from './batches.js';
import { shortenQueue } from './queue.js';
import { publishHeads } from './head.js';
import { passOver } from './pass.js';
import type { ModelLane, ModelWatcher } from './watcher.js';

/** The second loop of a leader: it works off what is aside, one application after the other. */
export function laneOf(world: ModelWorld, life: WatcherLife): ModelSteps {
  life.lane ??= workBeside(world, life);
  return life.lane;
}

function* workBeside(world: ModelWorld, life: WatcherLife): ModelSteps {
  while (!life.isLeftBehind) {
    yield;
    const { main } = life;
    if (main === undefined || main.lanes.size === 0) continue;
    const [appid, lane] = world.dice.pick([...main.lanes]);
    yield* workOff(main, appid, lane);
    lane.isAtWork = false;
    if (world.has('join against the stored token')) joinStored(main, appid, lane);
  }
}

/** The next batch of the queue, as far as main's token is stored; or the pass that is owed. */
function* workOff(main: ModelWatcher, appid: string, lane: ModelLane): ModelSteps {
  const { world } = main;
  const { database } = world;
  const { lease } = database.now;
  const stored = lease.lanes?.get(appid);
  if (stored?.turn !== lane.turn || lease.term !== main.own.term) return;
  if (stored.pass !== undefined) {
    lane.isAtWork = true;
    return yield* passOf(main, appid, { lane, stored });
  }
  yield;
  if (main.lanes.get(appid) !== lane) return;
  lane.isAtWork = true;
  const { token = 0, watched } = lease;
  const batch = [...database.now.queue.values()]
    .filter(({ place, complete }) => place > lane.place && place <= token && complete.includes(appid))
    .sort((one, other) => one.place - other.place)[0];
  if (batch === undefined) {
    if (lane.place < token)
      saveLane(main, appid, lane, { ...stored, place: token, ...(watched && { watched }) });
    return;
  }
  const events = batch.events.filter(({ number }) => number >= lane.place).map(({ event }) => event);
  const heads = yield* workThrough(lane.watcher, events);
  if ((yield* publishHeads(lane.watcher, heads)) !== 'written') return;
  yield;
  saveLane(main, appid, lane, { ...stored, place: batch.place, watched: batch.watched });
  yield;
  shortenQueue(world);
}

/** A pass of one application. It knows what there is as of its place, and what the queue tells behind that overrides it. */
function* passOf(
  main: ModelWatcher,
  appid: string,
  { lane, stored }: { lane: ModelLane; stored: StoredLane },
): ModelSteps {
  const { world } = main;
  const { watched } = stored;
  if (watched === undefined) return;
  if (world.has('place stored before the pass of the lane ends')) {
    const { pass: _over, ...rest } = stored;
    if (!saveLane(main, appid, lane, { ...rest, since: world.database.newest })) return;
  }
  yield* passOver(lane.watcher, placeBehind(watched), stored.pass === 'repair');
  yield;
  const since = world.database.newest;
  yield;
  const { pass: _over, ...rest } = stored;
  saveLane(main, appid, lane, { ...rest, since });
}

/** On condition of the term, and of the turn: main may have given the lane up, and begun another one. False where either is over. */
function saveLane(main: ModelWatcher, appid: string, lane: ModelLane, entry: StoredLane): boolean {
  const { database } = main.world;
  const { lease } = database.now;
  const isLoose = main.world.has('lane entry not bound to the term');
  const isOver = lease.term !== main.own.term && !isLoose;
  const stored = lease.lanes?.get(appid);
  const isMeant =
    isLoose || stored?.turn === lane.turn || main.world.has('lane entry not bound to its turn aside');
  if (isOver || stored === undefined || !isMeant) return false;
  lane.place = entry.place;
  const lanes = new Map([...(lease.lanes ?? []), [appid, entry] as const]);
  database.write(`how far ${appid} is aside`, (tx) => tx.writeLease({ ...lease, lanes }));
  return true;
}

/** For a mutant: whatever main has under way. */
function joinStored(main: ModelWatcher, appid: string, lane: ModelLane): void {
  const { lease } = main.world.database.now;
  const stored = lease.lanes?.get(appid);
  if (stored?.pass === undefined && lane.place === lease.token && stored?.place === lane.place)
    join(main, appid, lane);
}
