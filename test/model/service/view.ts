import { newestMoment, type Progress, servingMoment } from '../../../src/replication/mark/moment.js';
import type { State } from '../world/documents.js';
import type { Steps } from '../world/steps.js';
import type { World } from '../world/world.js';
import { readMoments, watchedBy } from './progress.js';

const CHANCE_GONE = 0.15;

/** Whether a view may be shown: the filter in it must be the one in force now. */
export type IsFit = (state: State) => boolean;

/** The view that serves a window up to `to`; nothing where a raise is needed. */
export function* viewFor(world: World, progress: Progress, to: Date, isFit: IsFit): Steps<State | undefined> {
  const { database } = world;
  if (world.has('no mark')) return database.asOf(watchedBy(world)!);
  const moments = readMoments(world);
  yield;
  const serving = servingMoment(moments, progress, to);
  if (serving === undefined) return undefined;
  const shown = asOf(world, progress, serving);
  if (isFit(shown)) return shown;
  const newest = newestMoment(moments, progress);
  if (newest === undefined || newest.fence < to) return undefined;
  const later = asOf(world, progress, newest);
  return isFit(later) ? later : undefined;
}

/** As of a moment; where the server does not hold it any more, as of all that is worked through. */
export function asOf(world: World, progress: Progress, { at }: { at: Progress['watched'] & object }): State {
  const { watched = at } = progress;
  return world.database.asOf(isGone(world) ? watched : at);
}

/** Whether the server does not hold a moment any more. */
export function isGone({ dice, profile }: World): boolean {
  return dice.chance(profile.gone ?? CHANCE_GONE);
}
