import type { LogBatch } from '../world/database.js';
import type { ModelSteps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import { LostTrack } from './as-of.js';
import { withEntry } from './aside.js';
import { workThrough } from './batches.js';
import { publishHeads } from './head.js';
import { isOfCreatedKind, loseKind } from './kind-pass.js';
import { MOST_EVENTS, watchedAfter } from './reach.js';
import type { ModelWatcher } from './watcher.js';

/** What became of a batch; nothing is done where a write has failed, or where nothing may be. */
export type BatchOutcome = 'done' | 'nothing' | 'over';

/** Works a batch through; stores how far it is, or leaves that to a pass that is under way. */
export function* workBatch(lane: ModelWatcher, isStored: boolean): ModelSteps<BatchOutcome> {
  const { world } = lane;
  const { database } = world;
  const batch = nextBatch(lane);
  if (batch === undefined) return 'nothing';
  const watched = laterOf(watchedAfter(batch, database.newest), lane.watched);
  yield;
  const isEarly = isStored && world.has('the entry of a lane before its effects');
  if (isEarly && !saveLane(lane, batch.token, watched)) return 'over';
  const heads = yield* workThrough(lane, batch.events);
  const head = yield* publishHeads(lane, heads);
  if (head !== 'written') return head === 'over' ? 'over' : 'nothing';
  if (isOfCreatedKind(world) && (yield* loseKind(lane, batch.events))) return 'over';
  yield;
  if (isStored && !saveLane(lane, batch.token, watched)) return 'over';
  lane.token = batch.token;
  lane.watched = watched;
  return 'done';
}

function nextBatch(lane: ModelWatcher): LogBatch | undefined {
  const { world } = lane;
  const { database } = world;
  const read = database.read(lane.token!, 1 + world.dice.below(MOST_EVENTS));
  if (read !== undefined) return isOfCreatedKind(world) ? read : upToLoss(read, lane.token!);
  if (!world.has('a lane that goes on behind a lost place')) throw new LostTrack();
  lane.token = database.end;
  return undefined;
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
  const { world, appid, since } = lane;
  const { database } = world;
  const lanes = withEntry(lane, appid!, { place, watched, ...(since && { since }) });
  if (!world.has('lane entry not bound to the term'))
    return lane.save(`how far ${appid} is aside`, { lanes });
  database.write('how far it is, whoever leads', (tx) => tx.writeLease({ ...database.now.lease, lanes }));
  return true;
}
