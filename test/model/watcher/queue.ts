import type { LogPlace } from '../../../src/replication/progress/place.js';
import { isGone } from '../service/view.js';
import type { ModelState, StoredLane } from '../world/documents.js';
import { withTold } from '../../../src/replication/ledger/identity.js';
import type { WatchedEvent, WrittenEvent } from '../../../src/replication/log/watched-event.js';
import type { LogBatch } from '../world/database.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import type { ModelWatcher } from './watcher.js';

const MOST_BATCHES = 4;

/** Which events of a batch main judges itself, and which go to the lane. What is doubtful goes to both. */
export interface Routed {
  own: WatchedEvent[];
  queued: { number: number; event: WatchedEvent }[];
}

/** What an overtaken leader appended behind the stored token does not count: main could wait for it for ever. */
export function isFull(world: ModelWorld): boolean {
  const { lease, queue } = world.database.now;
  const stored = [...queue.values()].filter(({ place }) => place <= (lease.token ?? 0));
  return stored.length >= MOST_BATCHES;
}

/**
 * What every application that is aside has behind it goes, as it is stored. Where none is aside that is main's token: behind it
 * there may be the first events of one whose entry is not stored yet.
 */
export function shortenQueue({ database }: ModelWorld): void {
  const { lanes, token = 0 } = database.now.lease;
  const places = [...(lanes ?? new Map<string, StoredLane>()).values()].map(({ place }) => place);
  database.write('shortens the queue', (tx) => tx.shortenQueue(Math.min(token, ...places)));
}

export function* route(watcher: ModelWatcher, first: number, events: WatchedEvent[]): ModelSteps<Routed> {
  if (watcher.lanes.size === 0) return { own: events, queued: [] };
  yield;
  const state = watcher.world.database.now;
  const routed: Routed = { own: [], queued: [] };
  const doubtful = new Set<string>();
  const moved = new Set<string>();
  for (const [index, event] of events.entries()) {
    const { isOwn, isQueued } = routeOf(watcher, state, event, doubtful);
    if (isOwn) routed.own.push(event);
    if (isQueued) routed.queued.push({ number: first + index, event: named(watcher, state, event, moved) });
    if (event.type === 'written' && tellsMove(event)) moved.add(String(event.owner));
  }
  return routed;
}

/**
 * An event goes to main alone where an entry of one of main's applications, known before it, owns the record, and it
 * names none that is aside. Entries of applications that are aside prove nothing: they are as old as their lane. Of a record that
 * was doubtful once every further event of the batch is, since the entries are those before the batch.
 */
function routeOf(
  watcher: ModelWatcher,
  state: ModelState,
  event: WatchedEvent,
  doubtful: Set<string>,
): { isOwn: boolean; isQueued: boolean } {
  const { world, lanes } = watcher;
  const both = { isOwn: true, isQueued: true };
  if (event.type === 'services' || event.type === 'collectionLost') return both;
  if (event.type === 'announced') return alone(watcher.owns(event.mark.appid));
  if (event.type === 'tombstone') {
    const entry = [...state.ledger.values()].find(({ _id }) => _id.equals(event.entry));
    return entry === undefined ? both : alone(watcher.owns(entry.identity.appid));
  }
  const named = event.type === 'written' ? event.identity.appid : undefined;
  const key = String(event.owner);
  if (typeof named === 'string' && lanes.has(named)) {
    if (!world.has('the batch before an event left out')) doubtful.add(key);
    return both;
  }
  if (world.has('doubtful events to main alone')) return alone(true);
  if (doubtful.has(key)) return both;
  const isKnown = [...state.ledger.values()].some(
    ({ alive, owner, identity, learned, seen }) =>
      alive &&
      String(owner) === key &&
      (watcher.owns(identity.appid) || world.has('entries of the lane count')) &&
      isBefore(world, seen ?? learned, learned, event.place),
  );
  return isKnown ? alone(true) : both;
}

/**
 * A move with the names that main knows: by the time that the lane comes to it the server may not hold its moment any more, and
 * the record as it is now may have moved on. What its stamp was then is unknown, and so counts as bad.
 */
function named(
  watcher: ModelWatcher,
  { ledger }: ModelState,
  event: WatchedEvent,
  moved: ReadonlySet<string>,
): WatchedEvent {
  const { world } = watcher;
  if (event.type !== 'written' || event.whole || !tellsMove(event) || moved.has(String(event.owner)))
    return event;
  if (world.has('moves queued without their names')) return event;
  const own = [...ledger.values()].filter(
    ({ alive, owner, identity }) =>
      alive && String(owner) === String(event.owner) && watcher.owns(identity.appid),
  );
  const [entry] = own;
  if (entry === undefined || own.length > 1 || (entry.seen ?? entry.learned) >= event.place) return event;
  const { organizationid, appid, id } = entry.identity;
  const before = { organizationid, appid, id, ...(entry.isNumber && { isNumber: true as const }) };
  const record = isGone(world) ? undefined : world.database.asOf(event.at).records.get(String(event.owner));
  const stamp = event.stamp === undefined ? (record?.lastupdated ?? null) : event.stamp;
  return { ...event, whole: true, identity: withTold(before, event.identity), stamp };
}

function tellsMove({ identity }: WrittenEvent): boolean {
  return Object.keys(identity).length > 0;
}

/** An entry learned at the event itself was written by a term that had this very batch, and ended before its token. */
function isBefore(world: ModelWorld, seen: LogPlace, learned: LogPlace, place: LogPlace): boolean {
  const known = world.has('an entry of a look counts at once') ? learned : seen;
  return known < place;
}

function alone(isOwn: boolean): { isOwn: boolean; isQueued: boolean } {
  return { isOwn, isQueued: !isOwn };
}

/** Appends what the lane has to work off of a batch; to be done before main's token. */
export function enqueue(
  { world, lanes }: ModelWatcher,
  batch: LogBatch,
  { queued, first, watched }: { queued: Routed['queued']; first: number; watched: ModelWatcher['watched'] },
): void {
  if (queued.length === 0 || watched === undefined) return;
  const complete = [...lanes.keys()];
  world.database.write('queues for the lane', (tx) =>
    tx.enqueue({ first, place: batch.token, watched, events: queued, complete }),
  );
}
