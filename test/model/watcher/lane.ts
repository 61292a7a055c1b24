import type { LogBatch } from '../world/database.js';
import type { ModelSteps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import type { WatcherLife } from '../world/world.js';
import { withEntry } from './aside.js';
import { inTrack } from './as-of.js';
import { workThrough } from './batches.js';
import { publishHeads } from './head.js';
import { MOST_EVENTS, watchedAfter } from './reach.js';
import type { ModelWatcher } from './watcher.js';

/** The readers of a leader beside its main one. */
export function lanesOf({ main }: WatcherLife): ModelSteps[] {
  return [...(main?.lanes.values() ?? [])].map(({ steps }) => steps);
}

/** The second reader of the log for one application, until main takes it back or gives it up, or the term is over. */
export function* laneSteps(main: ModelWatcher, lane: ModelWatcher): ModelSteps {
  for (;;) {
    yield;
    if (main.lanes.get(lane.appid!)?.isParked === false && (yield* workOff(main, lane))) return;
  }
}

/**
 * The next batch of the log. It may be ahead of main. Where a batch has brought it to the end of the one that main has under way,
 * it waits there for main to come. True where the term is over.
 */
function* workOff(main: ModelWatcher, lane: ModelWatcher): ModelSteps<boolean> {
  const { world, appid } = lane;
  const { database } = world;
  if (main.unstored.has(appid!)) return false;
  const read = database.read(lane.token!, 1 + world.dice.below(MOST_EVENTS));
  if (read === undefined) {
    main.isTrackLost = true;
    return false;
  }
  const batch = upToLoss(read, lane.token!);
  if (batch === undefined) return false;
  const watched = laterOf(watchedAfter(batch, database.newest), lane.watched);
  yield;
  const isEarly = world.has('the entry of a lane before its effects');
  if (isEarly && !saveLane(lane, batch.token, watched)) return true;
  const heads = yield* inTrack(workThrough(lane, batch.events));
  if (heads === undefined) {
    main.isTrackLost = true;
    return false;
  }
  const head = yield* publishHeads(lane, heads);
  if (head !== 'written') return head === 'over';
  yield;
  if (!saveLane(lane, batch.token, watched)) return true;
  lane.token = batch.token;
  lane.watched = watched;
  if (batch.token >= main.reaching) main.lanes.get(appid!)!.isParked = true;
  return false;
}

/** What lies behind a loss of the collection is for the pass that main begins when it comes there. */
function upToLoss({ events, ...batch }: LogBatch, place: number): LogBatch | undefined {
  const lost = events.findIndex((event) => event.type === 'collectionLost');
  if (lost === 0) return undefined;
  if (lost < 0) return { events, ...batch };
  return { events: events.slice(0, lost), token: place + lost, isDrained: false };
}

/** On condition of the term; false where that is over. */
function saveLane(lane: ModelWatcher, place: number, watched: ModelWatcher['watched'] & object): boolean {
  const { world, appid } = lane;
  const { database } = world;
  const lanes = withEntry(lane, appid!, { place, watched });
  if (!world.has('lane entry not bound to the term'))
    return lane.save(`how far ${appid} is aside`, { lanes });
  database.write('how far it is, whoever leads', (tx) => tx.writeLease({ ...database.now.lease, lanes }));
  return true;
}
