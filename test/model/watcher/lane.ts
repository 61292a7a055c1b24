import type { ModelSteps } from '../world/steps.js';
import type { WatcherLife } from '../world/world.js';
import { LostTrack } from './as-of.js';
import { workBatch } from './lane-batch.js';
import { ownPass, passDue } from './own-pass.js';
import type { ModelWatcher } from './watcher.js';

/** The readers of a leader beside its main one. */
export function lanesOf({ main }: WatcherLife): ModelSteps[] {
  return [...(main?.lanes.values() ?? [])].map(({ steps }) => steps);
}

/** The second reader of the log for one application, until main takes it back or gives it up, or the term is over. */
export function* laneSteps(main: ModelWatcher, lane: ModelWatcher): ModelSteps {
  for (;;) {
    yield;
    if (main.lanes.get(lane.appid!)?.isParked !== false) continue;
    const isOver = lane.ownPass === undefined ? yield* workOff(main, lane) : yield* ownPass(main, lane);
    if (isOver) return;
  }
}

/**
 * The next batch of the log. It may be ahead of main. Where a batch has brought it to the end of the one that main has under way,
 * it waits there for main to come. What it cannot read any more a pass of its own makes up for. True where the term is over.
 */
function* workOff(main: ModelWatcher, lane: ModelWatcher): ModelSteps<boolean> {
  const { appid } = lane;
  if (main.unstored.has(appid!)) return false;
  try {
    const outcome = yield* workBatch(lane, true);
    if (outcome !== 'done') return outcome === 'over';
  } catch (error) {
    if (!(error instanceof LostTrack)) throw error;
    return yield* passDue(lane);
  }
  const { token, watched, since } = lane;
  const isShown = since === undefined || watched!.compare(since) >= 0;
  if (token! >= main.reaching && isShown) main.lanes.get(appid!)!.isParked = true;
  return false;
}
