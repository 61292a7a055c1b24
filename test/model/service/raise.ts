import type { ModelSteps } from '../world/steps.js';
import type { Instance, Raise, ModelWorld } from '../world/world.js';
import { sourceFor } from './knowledge.js';
import { markOf, patience, readMoments, watchedBy } from './progress.js';

/**
 * Raises the mark and waits until the watcher has passed it; false where it has not in time. Of each instance one raise
 * for an application is in flight at most: a caller that finds one in flight waits for it, and then for one that began after the call.
 */
export function* raiseMark(world: ModelWorld, instance: Instance, appid: string): ModelSteps<boolean> {
  const wait = { looks: patience(world) };
  const { raises } = instance;
  const earlier = raises.get(appid);
  if (earlier !== undefined && !(yield* isPassedInTime(world, instance, earlier, wait))) return false;
  if (raises.get(appid) === earlier) raises.set(appid, { appid, clock: world.database.clock() });
  return yield* isPassedInTime(world, instance, raises.get(appid), wait);
}

function* isPassedInTime(
  world: ModelWorld,
  instance: Instance,
  raise: Raise | undefined,
  wait: { looks: number },
): ModelSteps<boolean> {
  while (raise !== undefined && isInFlight(world, instance, raise)) {
    if (wait.looks-- <= 0) return false;
    yield;
    raise.at ??= write(world, raise);
  }
  return true;
}

/** The raise belongs to the instance: whichever of its callers is there sees it committed. */
function write(world: ModelWorld, { appid, clock }: Raise): Raise['at'] & object {
  const { database } = world;
  let fence = clock;
  const at = database.write('raises the mark', (tx) => (fence = tx.raise(markOf(appid), clock)))!;
  if (world.has('a moment shown that is not yet worked through')) {
    const passed = new Date(database.wall);
    database.write('shows it at once', (tx) => tx.recordMoment({ ...markOf(appid), fence, at, passed }));
  }
  return at;
}

function isInFlight(world: ModelWorld, instance: Instance, { appid, at }: Raise): boolean {
  if (at === undefined) return true;
  const seen = sourceFor(world, instance).progress();
  if (world.has('a raise waits for its moment'))
    return !readMoments(seen, appid).some((one) => one.at.equals(at));
  const watched = watchedBy(seen, appid);
  const isPassed = watched !== undefined && at.compare(watched) <= 0;
  return !isPassed && !world.has('a moment shown that is not yet worked through');
}
