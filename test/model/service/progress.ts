import type { mongo } from 'mongoose';
import type { MarkKey } from '../../../src/replication/mark/mark.js';
import type { Moment } from '../../../src/replication/mark/moment.js';
import { isPreparing, type WatchProgress } from '../../../src/replication/progress/progress.js';
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
  const { watched, since, pass } = progressIn(lease, appid);
  const progress = { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
  if (world.has('lanes shown by the progress of main')) return mainProgress(lease);
  if (world.has('no preparing')) return { ...(watched && { watched }), since: NEVER };
  if (isPreparing(progress)) return undefined;
  if (world.has('since left out')) return { ...progress, since: NEVER };
  return world.has('a moment shown that is not yet worked through')
    ? { ...progress, watched: FOREVER }
    : progress;
}

/** For a mutant. */
function mainProgress({ watched, since, pass }: StoredLease): WatchProgress | undefined {
  const progress = { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
  return isPreparing(progress) ? undefined : progress;
}

/** Whether in an application everything up to a cluster time is worked through, and no pass is under way. */
export function isWorkedThrough(world: ModelWorld, at: mongo.Timestamp, appid: string): boolean {
  const watched = readProgress(world, world.database.now, appid)?.watched;
  return watched !== undefined && watched.compare(at) >= 0;
}

/** An application that is aside has its own progress; of every other one a pass of its own may have moved `since`. */
export function progressIn(
  { lanes, sinces, watched, since, pass }: StoredLease,
  appid: string,
): Pick<StoredLease, 'watched' | 'since' | 'pass'> {
  const lane = lanes?.get(appid);
  if (lane !== undefined && pass === undefined) return lane;
  const own = sinces?.get(appid);
  const from = own === undefined ? since : laterOf(own, since);
  return { ...(watched && { watched }), ...(from && { since: from }), ...(pass && { pass }) };
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
