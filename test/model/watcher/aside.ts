import { markName } from '../../../src/replication/protocol/marks.js';
import { markOf } from '../service/progress.js';
import type { StoredLane, StoredLease } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import { laneSteps } from './lane.js';
import { ModelWatcher, type ModelLane } from './watcher.js';

/**
 * Between two batches: the application has a reader of its own from here on. Main goes on only once its entry is stored, by the
 * same write as the token. True where the term is over.
 */
export function* putAside(main: ModelWatcher, appid: string, token: number): ModelSteps<boolean> {
  const { world, watched } = main;
  if (watched === undefined) return false;
  const entry = { place: token, watched };
  const isLate = world.has('main goes on before the entry is stored');
  if (isLate) main.unstored.set(appid, entry);
  else {
    yield;
    if (!main.save(`puts ${appid} aside`, { token, watched, lanes: withEntry(main, appid, entry) }))
      return true;
  }
  const lane = newLane(main, appid, entry);
  if (!world.has('the lane begins without fences')) lane.watcher.fences = new Map(main.fences);
  main.lanes.set(appid, lane);
  yield;
  return false;
}

/** The lanes that are stored, as a new term takes them over. */
export function takeLanes(main: ModelWatcher): void {
  for (const [appid, stored] of main.world.database.now.lease.lanes ?? []) {
    const lane = newLane(main, appid, stored);
    lane.watcher.takeMarksAsTheyStand();
    main.lanes.set(appid, lane);
  }
}

function newLane(main: ModelWatcher, appid: string, { place, watched, since, pass }: StoredLane): ModelLane {
  const { world, own } = main;
  const watcher = new ModelWatcher(world, own, place, watched, appid);
  watcher.since = since;
  watcher.ownPass = pass;
  return { watcher, steps: laneSteps(main, watcher), isParked: false };
}

/** The lanes that are parked within a batch, in the order in which main comes to them. */
export function parkedUpTo(main: ModelWatcher, end: number): [appid: string, place: number][] {
  const parked = [...main.lanes].filter(([, { isParked }]) => isParked);
  return parked
    .map(([appid, { watcher }]): [string, number] => [appid, watcher.token!])
    .filter(([, place]) => place <= end)
    .sort(([, one], [, other]) => one - other);
}

/** From here on in this batch the application is main's own, with the lane's fence of it and of no other. */
export function takeOver(main: ModelWatcher, appid: string): void {
  main.joining.add(appid);
  const fence = main.lanes.get(appid)?.watcher.fenceOf({ appid });
  if (fence !== undefined && !main.world.has('main keeps its own fences at the join'))
    main.pass(new Map([[markName(markOf(appid)), fence]]));
}

/**
 * What the write of main's token stores beside it: the entries of what it has taken over go, and nothing is shown any more that is
 * older than their own passes.
 */
export function besideToken(main: ModelWatcher): Partial<StoredLease> {
  const { world, joining } = main;
  if (joining.size === 0) return {};
  const { lease } = world.database.now;
  const stored = [...(lease.lanes ?? [])];
  const lanes = new Map(stored.filter(([appid]) => !joining.has(appid)));
  const joined = stored.flatMap(([appid, { since }]) => (since && joining.has(appid) ? [since] : []));
  if (joined.length === 0 || world.has('a join that leaves since')) return { lanes };
  return { lanes, since: joined.reduce((latest, one) => laterOf(one, latest), lease.since!) };
}

/** Once that is stored. */
export function endJoin(main: ModelWatcher): void {
  for (const appid of main.joining) main.lanes.delete(appid);
  main.joining.clear();
}

/** For a mutant: main takes an application back at its own place, whatever lies between. */
export function takeBackWhatIsBehind(main: ModelWatcher, token: number): void {
  if (!main.world.has('joined against a place that main has passed')) return;
  for (const [appid, { watcher }] of main.lanes) if (watcher.token! < token) takeOver(main, appid);
}

/** For a mutant: what main has gone on without. */
export function storeLate(main: ModelWatcher): boolean {
  for (const [appid, entry] of main.unstored) {
    main.unstored.delete(appid);
    if (!main.save(`puts ${appid} aside late`, { lanes: withEntry(main, appid, entry) })) return false;
  }
  return true;
}

export function withEntry(
  { world }: ModelWatcher,
  appid: string,
  entry: StoredLane,
): ReadonlyMap<string, StoredLane> {
  return new Map([...(world.database.now.lease.lanes ?? []), [appid, entry]]);
}
