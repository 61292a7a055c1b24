import type { mongo } from 'mongoose';
import { isPreparing, type Moment, type Progress } from '../../../src/replication/mark/moment.js';
import { APPLICATION, KIND, ORGANIZATION } from '../world/documents.js';
import { FOREVER, NEVER } from '../world/time.js';
import type { World } from '../world/world.js';

export const MARK = { kind: KIND, organizationid: ORGANIZATION, appid: APPLICATION } as const;

/** Why nothing is answered: what the consumer does then is to ask again later. */
export type Refusal =
  'preparing' | 'not-watched' | 'unknown-service' | 'service-misconfigured' | 'history-expired';

export function isRefusal<T extends object>(answer: T | Refusal): answer is Refusal {
  return typeof answer === 'string';
}

/** How far the watcher has come, as an instance reads it; nothing while the service prepares. */
export function readProgress(world: World): Progress | undefined {
  const { watched, since, pass } = world.database.now.lease;
  const progress = { ...(watched && { watched }), ...(since && { since }), ...(pass && { pass }) };
  if (world.has('no preparing')) return { ...(watched && { watched }), since: NEVER };
  if (isPreparing(progress)) return undefined;
  return world.has('a moment shown that is not yet worked through')
    ? { ...progress, watched: FOREVER }
    : progress;
}

/** The moments that every instance knows. */
export function readMoments({ database }: World): Moment[] {
  return [...database.now.moments.values()].filter(({ appid }) => appid === APPLICATION);
}

/** How far the watcher has come, whatever an instance may show of it. */
export function watchedBy({ database }: World): mongo.Timestamp | undefined {
  return database.now.lease.watched;
}

/** How often an instance looks whether the watcher has passed before it answers `not-watched`. */
export function patience({ dice }: World): number {
  return 1 + dice.below(12);
}
