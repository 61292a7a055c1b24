import { isShown, newestMoment } from '../../../src/replication/mark/moment.js';
import { APPLICATION, type ModelState } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, ModelWorld } from '../world/world.js';
import { readMoments, readProgress, type ReadRefusal, watchedBy } from './progress.js';
import { raiseMark } from './raise.js';
import { asOf } from './view.js';

const NONE_YET = new Date(0);

/** How far it is safe to read, asked of one instance. */
export function* askMax(world: ModelWorld, instance: Instance): ModelSteps<Date | ReadRefusal> {
  if (world.has('no mark')) return withoutMark(world);
  const last = yield* lastAnswer(world, instance);
  if (last !== undefined) return last;
  yield;
  const known = yield* knownMax(world, instance);
  if (known === 'preparing') return known;
  yield;
  if (known !== undefined && !isBeaten(world, known)) return known;
  yield* raiseMark(world, instance);
  return (yield* knownMax(world, instance)) ?? 'not-watched';
}

/** What was answered last, where its moment can still be shown and no stamp is greater; looked at at once. */
function* lastAnswer(world: ModelWorld, instance: Instance): ModelSteps<Date | undefined> {
  const { answer } = instance;
  if (answer === undefined) return undefined;
  yield;
  const isBeatenEarly = isBeaten(world, answer.greatest);
  yield;
  const progress = readProgress(world);
  const isKept = progress !== undefined && isShown(answer.moment, progress);
  return isKept && !isBeatenEarly ? answer.greatest : undefined;
}

function isBeaten({ database }: ModelWorld, known: Date): boolean {
  const clock = database.clock();
  return stampsIn(database.now).some((stamp) => stamp > known && stamp <= clock);
}

/** As of the newest moment; nothing where there is none. */
function* knownMax(world: ModelWorld, instance: Instance): ModelSteps<Date | 'preparing' | undefined> {
  const progress = readProgress(world);
  if (progress === undefined) return 'preparing';
  yield;
  const moment = newestMoment(readMoments(world), progress);
  yield;
  if (moment === undefined) return undefined;
  const greatest = greatestUpTo(moment.fence, asOf(world, progress, moment));
  instance.answer = { moment, greatest };
  return greatest;
}

function withoutMark(world: ModelWorld): Date | ReadRefusal {
  const watched = watchedBy(world);
  if (readProgress(world) === undefined || watched === undefined) return 'preparing';
  return greatestUpTo(world.database.clock(), world.database.asOf(watched));
}

function greatestUpTo(fence: Date, state: ModelState): Date {
  const below = stampsIn(state).filter((stamp) => stamp <= fence);
  return below.reduce((greatest, stamp) => (stamp > greatest ? stamp : greatest), NONE_YET);
}

function stampsIn({ records, ledger }: ModelState): Date[] {
  const ofRecords = [...records.values()].filter(({ appid }) => appid === APPLICATION);
  const ofTombstones = [...ledger.values()].filter(
    (entry) => !entry.alive && entry.identity.appid === APPLICATION,
  );
  return [...ofRecords, ...ofTombstones].flatMap(({ lastupdated }) => lastupdated ?? []);
}
