import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import { type Heads, noteHead } from '../../../src/replication/protocol/marks.js';
import type { LogBatch } from '../world/database.js';
import { APPLICATIONS } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import type { ModelWorld } from '../world/world.js';
import {
  besideToken,
  endJoin,
  parkedUpTo,
  putAside,
  storeLate,
  takeBackWhatIsBehind,
  takeOver,
} from './aside.js';
import { inTrack } from './as-of.js';
import { workThrough } from './batches.js';
import { reconcileAll } from './filters.js';
import { publishHeads } from './head.js';
import { isOfCreatedKind, loseKind } from './kind-pass.js';
import { MOST_EVENTS, watchedAfter } from './reach.js';
import type { ModelWatcher } from './watcher.js';

/** Of how many looks at a drained stream one looks at the filters too. */
const TIMER = 5;

/** Works one batch of the stream through; true where the term is over. */
export function* follow(watcher: ModelWatcher, token: number): ModelSteps<boolean> {
  const { world } = watcher;
  const { database } = world;
  watcher.joining.clear();
  if (yield* somePutAside(watcher, token)) return true;
  const batch = database.read(token, 1 + world.dice.below(MOST_EVENTS));
  if (batch === undefined) return loseTrack(watcher);
  const watched = laterOf(watchedAfter(batch, database.newest), watcher.watched);
  const lost = batch.events.findIndex((event) => event.type === 'collectionLost');
  if (lost >= 0 && !isOfCreatedKind(world) && !world.has('rule 6 left out')) {
    yield* inTrack(workThrough(watcher, batch.events));
    return loseTrack(watcher);
  }
  watcher.reaching = batch.token;
  const parts = partsOf(watcher, token, batch);
  const due = { token: batch.token, watched };
  watcher.due = due;
  const save = () => watcher.save('saves token and watched', { ...due, ...besideToken(watcher) });
  if (world.has('token stored before the effect') && !save()) return true;
  yield;
  const heads = yield* inTrack(workThroughParts(watcher, parts));
  if (heads === undefined) return loseTrack(watcher);
  if (world.has('the token before the head') && !save()) return true;
  const head = yield* publishHeads(watcher, heads);
  if (head !== 'written') return head === 'over';
  if (isOfCreatedKind(world) && (yield* loseKind(watcher, batch.events))) return true;
  if (isTimeToReconcile(world, batch)) yield* reconcileAll(watcher);
  yield;
  watcher.token = batch.token;
  watcher.watched = watched;
  if (!save()) return true;
  endJoin(watcher);
  if (watcher.unstored.size > 0) yield;
  return !storeLate(watcher);
}

/** The events up to where a lane is parked, and whose application is main's own behind them. */
interface Part {
  events: WatchedEvent[];
  joins?: string;
}

function partsOf(watcher: ModelWatcher, token: number, { events, token: end }: LogBatch): Part[] {
  const { world } = watcher;
  takeBackWhatIsBehind(watcher, token);
  const parked = parkedUpTo(watcher, end);
  let begin = token;
  const parts: Part[] = [];
  for (const [joins, place] of parked) {
    const behind = world.has('none of the batch of a join as of main') ? end : place;
    parts.push({ events: events.slice(begin - token, behind - token), joins });
    begin = behind;
  }
  return [...parts, { events: events.slice(begin - token) }];
}

function* workThroughParts(watcher: ModelWatcher, parts: Part[]): ModelSteps<Heads> {
  const heads: Heads = new Map();
  for (const { events, joins } of parts) {
    for (const head of (yield* workThrough(watcher, events)).values()) noteHead(heads, head);
    if (joins !== undefined) takeOver(watcher, joins);
  }
  return heads;
}

/**
 * Which work would hold up others is not for the model to say: any application may be put aside before any batch, but for the
 * time in which nothing is shown. True where the term is over.
 */
function* somePutAside(watcher: ModelWatcher, token: number): ModelSteps<boolean> {
  const { dice, profile, database } = watcher.world;
  const { lanes } = profile;
  if (lanes === undefined || !dice.chance(lanes.aside)) return false;
  const appid = dice.pick(APPLICATIONS);
  const { since } = database.now.lease;
  const { watched } = watcher;
  if (!watcher.owns(appid) || since === undefined || watched === undefined) return false;
  if (watched.compare(since) < 0) return false;
  return yield* putAside(watcher, appid, token);
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
