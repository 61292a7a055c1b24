import { APPLICATIONS, type StoredLane } from '../world/documents.js';
import { markName } from '../../../src/replication/mark/mark.js';
import { markOf, progressIn } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import { laterOf } from '../world/time.js';
import { ModelWatcher, type ModelLane } from './watcher.js';

/** From this batch on the application has a loop of its own. Its entry is stored with main's token. */
export function putAside(
  main: ModelWatcher,
  appid: string,
  { place, isRepair }: { place: number; isRepair: boolean },
): number {
  const lane = newLane(main, appid, { place, turn: (main.world.turnsAside += 1), isRepair });
  if (!main.world.has('the lane begins without fences')) lane.watcher.fences = new Map(main.fences);
  main.lanes.set(appid, lane);
  return lane.turn;
}

/** The lanes that are stored, as a new term takes them over. */
export function takeLanes(main: ModelWatcher): void {
  for (const [appid, stored] of main.world.database.now.lease.lanes ?? []) {
    const lane = newLane(main, appid, stored);
    lane.watcher.takeMarksAsTheyStand();
    main.lanes.set(appid, lane);
  }
}

function newLane(
  { world, own }: ModelWatcher,
  appid: string,
  { place, turn, isRepair = false }: Pick<ModelLane, 'place' | 'turn'> & { isRepair?: boolean },
): ModelLane {
  const watcher = new ModelWatcher(world, own, undefined, undefined, appid);
  return { watcher, turn, place, isRepair, isAtWork: false };
}

/**
 * What is to be stored of applications that were put aside with this batch, or with one before it whose token could not be stored.
 */
export function entriesToStore(main: ModelWatcher, newest: number | undefined): Map<string, StoredLane> {
  const { lease } = main.world.database.now;
  const isForgotten = main.world.has('an entry not yet stored forgotten');
  const unstored = [...main.lanes].filter(
    ([appid, { turn }]) => lease.lanes?.get(appid)?.turn !== turn && (!isForgotten || turn === newest),
  );
  return new Map(
    unstored.map(([appid, { turn, place, isRepair }]): [string, StoredLane] => {
      const { watched, since } = progressIn(lease, appid);
      const pass = isRepair && { pass: 'repair' };
      return [appid, { turn, place, ...(watched && { watched }), ...(since && { since }), ...pass }];
    }),
  );
}

/** Stores them beside those that are stored already; false where the term is over. */
export function saveEntries(
  main: ModelWatcher,
  what: string,
  {
    entries,
    ...progress
  }: { entries: ReadonlyMap<string, StoredLane> } & Parameters<ModelWatcher['save']>[1],
): boolean {
  const lanes = new Map([...(main.world.database.now.lease.lanes ?? []), ...entries]);
  return main.save(what, { ...progress, lanes });
}

/**
 * Takes back every application whose lane stands where main stands in memory, while neither has anything under way. False where the
 * term is over.
 */
export function joinLanes(main: ModelWatcher): boolean {
  const { world, lanes } = main;
  for (const [appid, lane] of lanes) if (isReady(main, lane) && !join(main, appid, lane)) return false;
  return world.database.now.lease.term === main.own.term;
}

function isReady({ world, token }: ModelWatcher, { place, isAtWork, watcher }: ModelLane): boolean {
  const stored = world.database.now.lease.lanes?.get(watcher.appid!);
  return !isAtWork && place === token && stored?.place === place && stored.pass === undefined;
}

export function join(main: ModelWatcher, appid: string, { watcher }: ModelLane): boolean {
  const { lease } = main.world.database.now;
  const stored = lease.lanes?.get(appid);
  if (stored === undefined) return true;
  const lanes = new Map([...(lease.lanes ?? [])].filter(([name]) => name !== appid));
  const before = lease.sinces?.get(appid);
  const own = stored.since === undefined ? before : laterOf(stored.since, before);
  const sinces = new Map([...(lease.sinces ?? []), ...(own ? [[appid, own] as const] : [])]);
  if (!main.save(`${appid} joins`, { lanes, sinces })) return false;
  main.lanes.delete(appid);
  const fence = watcher.fenceOf({ appid });
  if (fence !== undefined && !main.world.has('main keeps its own fences at the join'))
    main.pass(new Map([[markName(markOf(appid)), fence]]));
  return true;
}

/**
 * The pass over everything: every application is put aside where the new stream begins, with a pass of its own. Main goes on with
 * the stream, and each application is shown when its own pass has ended and its lane has come behind that.
 */
export function* passByApplication(main: ModelWatcher, isRepair: boolean): ModelSteps<boolean> {
  const { world, lanes } = main;
  const { database } = world;
  lanes.clear();
  yield;
  const place = database.end;
  const watched = database.newest;
  yield;
  main.takeMarksAsTheyStand();
  const pass = isRepair ? 'repair' : 'first start';
  const entries = new Map(
    APPLICATIONS.map((appid): [string, StoredLane] => {
      const turn = (world.turnsAside += 1);
      return [appid, { turn, place, watched, pass }];
    }),
  );
  main.token = place;
  main.watched = watched;
  const progress = { token: place, watched, since: watched, lanes: entries };
  if (!main.save('puts every application aside for its pass', progress)) return true;
  takeLanes(main);
  return false;
}
