import { newestMoment } from '../../../src/replication/mark/moment.js';
import { APPLICATION, type State } from '../world/documents.js';
import type { Steps } from '../world/steps.js';
import type { Instance, World } from '../world/world.js';
import { readMoments, readProgress, type Refusal, watchedBy } from './progress.js';
import { raiseMark } from './raise.js';
import { asOf } from './view.js';

const NONE_YET = new Date(0);

/** How far it is safe to read, asked of one instance. */
export function* askMax(world: World, instance: Instance): Steps<Date | Refusal> {
  const { database } = world;
  if (world.has('no mark')) return withoutMark(world);
  yield;
  const known = yield* knownMax(world);
  if (known === 'preparing') return known;
  yield;
  const clock = database.clock();
  const isBeaten = stampsIn(database.now).some((stamp) => stamp > (known ?? NONE_YET) && stamp <= clock);
  if (known !== undefined && !isBeaten) return known;
  yield* raiseMark(world, instance);
  return (yield* knownMax(world)) ?? 'not-watched';
}

/** As of the newest moment; nothing where there is none. */
function* knownMax(world: World): Steps<Date | 'preparing' | undefined> {
  const progress = readProgress(world);
  if (progress === undefined) return 'preparing';
  yield;
  const moment = newestMoment(readMoments(world), progress);
  yield;
  return moment && greatestUpTo(moment.fence, asOf(world, progress, moment));
}

function withoutMark(world: World): Date | Refusal {
  const watched = watchedBy(world);
  if (readProgress(world) === undefined || watched === undefined) return 'preparing';
  return greatestUpTo(world.database.clock(), world.database.asOf(watched));
}

function greatestUpTo(fence: Date, state: State): Date {
  const below = stampsIn(state).filter((stamp) => stamp <= fence);
  return below.reduce((greatest, stamp) => (stamp > greatest ? stamp : greatest), NONE_YET);
}

function stampsIn({ records, ledger }: State): Date[] {
  const ofRecords = [...records.values()].filter(({ appid }) => appid === APPLICATION);
  const ofTombstones = [...ledger.values()].filter(
    (entry) => !entry.alive && entry.identity.appid === APPLICATION,
  );
  return [...ofRecords, ...ofTombstones].flatMap(({ lastupdated }) => lastupdated ?? []);
}
