import type { mongo } from 'mongoose';
import type { MarkKey, Moment } from '../../../src/replication/protocol/marks.js';
import { isPreparing, type WatchProgress } from '../../../src/replication/protocol/progress.js';
import { KIND, type ModelState, ORGANIZATION, type StoredLease } from '../world/documents.js';
import { FOREVER, laterOf, NEVER } from '../world/time.js';
import type { ModelWorld } from '../world/world.js';

/** The mark of an application. */
export function markOf(appid: string): MarkKey {
  return { kind: KIND, organizationid: ORGANIZATION, appid };
}

/** Why nothing is answered: what the consumer does then is to ask again later. */
export type ReadRefusal =
  | 'preparing'
  | 'not-watched'
  | 'unknown-service'
  | 'service-misconfigured'
  | 'history-expired';

export function isRefusal<T extends object>(answer: T | ReadRefusal): answer is ReadRefusal {
  return typeof answer === 'string';
}

/** How far the watcher has come, as an instance reads it; nothing while the service prepares. */
export function readProgress(
  world: ModelWorld,
  { lease }: ModelState,
  appid: string,
): WatchProgress | undefined {
  const isMixed = world.has('lanes shown by the progress of main');
  const { since, ...told } = progressIn(isMixed ? { ...lease, lanes: new Map() } : lease, appid);
  const shownSince = world.has('moments since the lease alone') ? lease.since : since;
  const progress = { ...told, ...(shownSince && { since: shownSince }) };
  const { watched } = progress;
  if (world.has('no preparing')) return { ...(watched && { watched }), since: NEVER };
  if (isPreparing(progress)) return undefined;
  if (world.has('since left out')) return { ...progress, since: NEVER };
  return world.has('a moment shown that is not yet worked through')
    ? { ...progress, watched: FOREVER }
    : progress;
}

/** Whether the loop of an application has worked through everything up to a cluster time, and no pass over it is under way. */
export function isWorkedThrough(
  world: ModelWorld,
  at: mongo.Timestamp,
  appid: string,
  state = world.database.now,
): boolean {
  const watched = readProgress(world, state, appid)?.watched;
  return watched !== undefined && watched.compare(at) >= 0;
}

/** The same, and no pass over it has ended behind that time, which may have found out of what no event has told. */
export function isLookUpToDate(world: ModelWorld, at: mongo.Timestamp, appid: string): boolean {
  const state = world.database.now;
  const { since } = progressIn(state.lease, appid);
  return isWorkedThrough(world, at, appid, state) && (since === undefined || since.compare(at) <= 0);
}

/** Whether main has, and no pass over everything is under way. */
export function isWorkedThroughByMain({ database }: ModelWorld, at: mongo.Timestamp): boolean {
  const { watched, since, pass } = database.now.lease;
  const progress = { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
  return !isPreparing(progress) && watched!.compare(at) >= 0;
}

/** An application that is aside has a `watched` of its own, and may have a `since` and a pass of its own. */
export function progressIn(lease: StoredLease, appid: string): WatchProgress {
  const entry = lease.lanes?.get(appid);
  const { watched } = entry ?? lease;
  const ends = [lease.since, entry?.since, lease.kind?.since].filter((end) => end !== undefined);
  const since = lease.since && ends.reduce((latest, one) => laterOf(one, latest));
  const isDue = lease.kind !== undefined && lease.kind.since === undefined;
  const pass = lease.pass ?? entry?.pass ?? (isDue ? 'of the kind' : undefined);
  return { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
}

/** The moments of an application that every instance knows. */
export function readMoments({ moments }: ModelState, of: string): Moment[] {
  return [...moments.values()].filter(({ appid }) => appid === of);
}

/** How far the watcher has come in an application, whatever an instance may show of it. */
export function watchedBy({ lease }: ModelState, appid: string): mongo.Timestamp | undefined {
  return progressIn(lease, appid).watched;
}

/** How often an instance looks whether the watcher has passed before it answers `not-watched`. */
export function patience({ dice }: ModelWorld): number {
  return 1 + dice.below(12);
}
