import type { mongo } from 'mongoose';
import type { Moment } from '../../../src/replication/mark/moment.js';
import { isPreparing, type WatchProgress } from '../../../src/replication/progress/progress.js';
import { APPLICATION, KIND, type ModelState, ORGANIZATION } from '../world/documents.js';
import { FOREVER, NEVER } from '../world/time.js';
import type { ModelWorld } from '../world/world.js';

export const MARK = { kind: KIND, organizationid: ORGANIZATION, appid: APPLICATION } as const;

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
  { lease: { watched, since, pass } }: ModelState,
): WatchProgress | undefined {
  const progress = { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
  if (world.has('no preparing')) return { ...(watched && { watched }), since: NEVER };
  if (isPreparing(progress)) return undefined;
  if (world.has('since left out')) return { ...progress, since: NEVER };
  return world.has('a moment shown that is not yet worked through')
    ? { ...progress, watched: FOREVER }
    : progress;
}

/** Whether everything up to a cluster time is worked through, and no pass is under way. */
export function isWorkedThrough(world: ModelWorld, at: mongo.Timestamp): boolean {
  const watched = readProgress(world, world.database.now)?.watched;
  return watched !== undefined && watched.compare(at) >= 0;
}

/** The moments that every instance knows. */
export function readMoments({ moments }: ModelState): Moment[] {
  return [...moments.values()].filter(({ appid }) => appid === APPLICATION);
}

/** How far the watcher has come, whatever an instance may show of it. */
export function watchedBy({ lease }: ModelState): mongo.Timestamp | undefined {
  return lease.watched;
}

/** How often an instance looks whether the watcher has passed before it answers `not-watched`. */
export function patience({ dice }: ModelWorld): number {
  return 1 + dice.below(12);
}
