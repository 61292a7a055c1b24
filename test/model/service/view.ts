import { newestMoment, servingMoment } from '../../../src/replication/protocol/marks.js';
import type { WatchProgress } from '../../../src/replication/protocol/progress.js';
import type { ModelState } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import type { Source } from './knowledge.js';
import { readMoments, watchedBy } from './progress.js';

const CHANCE_GONE = 0.15;

/** Whether a view may be shown: the filter in it must be the one in force now. */
export type IsFit = (state: ModelState) => boolean;

/** The view that serves a window up to `to`; nothing where a raise is needed. */
export function* viewFor(
  world: ModelWorld,
  source: Source,
  progress: WatchProgress,
  { appid, to }: { appid: string; to: Date },
  isFit: IsFit,
): ModelSteps<ModelState | undefined> {
  const { database } = world;
  if (world.has('no mark')) return database.asOf(watchedBy(source.progress(), appid)!);
  const moments = readMoments(source.progress(), appid);
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
export function asOf(
  world: ModelWorld,
  progress: WatchProgress,
  { at }: { at: WatchProgress['watched'] & object },
): ModelState {
  const { watched = at } = progress;
  return world.database.asOf(isGone(world) ? watched : at);
}

/** Whether the server does not hold a moment any more. */
export function isGone({ dice, profile }: ModelWorld): boolean {
  return dice.chance(profile.gone ?? CHANCE_GONE);
}
