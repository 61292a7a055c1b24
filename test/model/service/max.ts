import { FUTURE_TOLERANCE_MS } from '../../../src/database/clock.js';
import { isShown, newestMoment } from '../../../src/replication/mark/moment.js';
import { APPLICATION, type ModelState } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, MaxAnswer, ModelWorld } from '../world/world.js';
import { type Source, sourceFor } from './knowledge.js';
import { readMoments, readProgress, type ReadRefusal, watchedBy } from './progress.js';
import { raiseMark } from './raise.js';
import { asOf } from './view.js';

const NONE_YET = new Date(0);

/** How far it is safe to read, asked of one instance. */
export function* askMax(world: ModelWorld, instance: Instance): ModelSteps<Date | ReadRefusal> {
  if (world.has('no mark')) return withoutMark(world);
  if (sourceFor(world, instance).isKnown) return yield* maxByKnowledge(world, instance);
  const last = yield* lastAnswer(world, instance);
  if (last !== undefined) return last;
  yield;
  const known = yield* asOfNewest(world, instance, sourceFor(world, instance));
  if (known === 'preparing') return known;
  yield;
  if (known !== undefined && !isBeaten(world, known.greatest)) return known.greatest;
  return yield* maxAfterRaise(world, instance);
}

/** The database is asked for what a moment shows only, once: what has come since is told by the head. */
function* maxByKnowledge(world: ModelWorld, instance: Instance): ModelSteps<Date | ReadRefusal> {
  const source = sourceFor(world, instance);
  const answer = yield* asOfNewest(world, instance, source);
  if (answer === 'preparing') return answer;
  if (answer !== undefined && !answer.isBeaten && !isHeadAbove(world, source, answer)) return answer.greatest;
  return yield* maxAfterRaise(world, instance);
}

function* maxAfterRaise(world: ModelWorld, instance: Instance): ModelSteps<Date | ReadRefusal> {
  yield* raiseMark(world, instance);
  const answer = yield* asOfNewest(world, instance, sourceFor(world, instance));
  if (answer === 'preparing') return answer;
  return answer?.greatest ?? 'not-watched';
}

/** Compared with the fence, and not with the answer: a stamp that was lowered, deleted or moved would raise for ever. */
function isHeadAbove(world: ModelWorld, { progress }: Source, { moment: { fence } }: MaxAnswer): boolean {
  const { head } = progress();
  return head !== undefined && head > fence && !world.has('no heads');
}

/** What was answered last, where its moment can still be shown and no stamp is greater; looked at at once. */
function* lastAnswer(world: ModelWorld, instance: Instance): ModelSteps<Date | undefined> {
  const { answer } = instance;
  if (answer === undefined) return undefined;
  yield;
  const isBeatenEarly = isBeaten(world, answer.greatest);
  yield;
  const progress = readProgress(world, world.database.now);
  const isKept = progress !== undefined && isShown(answer.moment, progress);
  return isKept && !isBeatenEarly ? answer.greatest : undefined;
}

function isBeaten({ database }: ModelWorld, known: Date): boolean {
  const clock = database.clock();
  return stampsIn(database.now).some((stamp) => stamp > known && !isAheadOf(clock, stamp));
}

/** As of the newest moment; nothing where there is none. */
function* asOfNewest(
  world: ModelWorld,
  instance: Instance,
  source: Source,
): ModelSteps<MaxAnswer | 'preparing' | undefined> {
  const progress = readProgress(world, source.progress());
  if (progress === undefined) return 'preparing';
  yield;
  const moment = newestMoment(readMoments(source.progress()), progress);
  const last = instance.answer;
  if (source.isKnown && moment !== undefined && last?.moment.at.equals(moment.at)) return last;
  yield;
  if (moment === undefined) return undefined;
  const state = asOf(world, progress, moment);
  const clock = world.database.clock();
  const isBeatenThen = stampsIn(state).some((stamp) => stamp > moment.fence && !isAheadOf(clock, stamp));
  instance.answer = { moment, greatest: greatestUpTo(moment.fence, state), isBeaten: isBeatenThen };
  return instance.answer;
}

function isAheadOf(clock: Date, stamp: Date): boolean {
  return stamp.getTime() > clock.getTime() + FUTURE_TOLERANCE_MS;
}

function withoutMark(world: ModelWorld): Date | ReadRefusal {
  const { database } = world;
  const watched = watchedBy(database.now);
  if (readProgress(world, database.now) === undefined || watched === undefined) return 'preparing';
  return greatestUpTo(database.clock(), database.asOf(watched));
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
