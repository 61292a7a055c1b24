import { FUTURE_TOLERANCE_MS } from '../../../src/platform/database/pure.js';
import { isShown, newestMoment } from '../../../src/replication/protocol/marks.js';
import type { ModelState } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, MaxAnswer, ModelWorld } from '../world/world.js';
import { type Source, sourceFor } from './knowledge.js';
import { readMoments, readProgress, type ReadRefusal, watchedBy } from './progress.js';
import { raiseMark } from './raise.js';
import { asOf } from './view.js';

const NONE_YET = new Date(0);

/** How far it is safe to read, asked of one instance. */
export function* askMax(
  world: ModelWorld,
  instance: Instance,
  appid: string,
): ModelSteps<Date | ReadRefusal> {
  if (world.has('no mark')) return withoutMark(world, appid);
  if (sourceFor(world, instance).isKnown) return yield* maxByKnowledge(world, instance, appid);
  const last = yield* lastAnswer(world, instance, appid);
  if (last !== undefined) return last;
  yield;
  const known = yield* asOfNewest(world, instance, sourceFor(world, instance), appid);
  if (known === 'preparing') return known;
  yield;
  if (known !== undefined && !isBeaten(world, known.greatest, appid)) return known.greatest;
  return yield* maxAfterRaise(world, instance, appid);
}

/** The database is asked for what a moment shows only, once: what has come since is told by the head. */
function* maxByKnowledge(
  world: ModelWorld,
  instance: Instance,
  appid: string,
): ModelSteps<Date | ReadRefusal> {
  const source = sourceFor(world, instance);
  const answer = yield* asOfNewest(world, instance, source, appid);
  if (answer === 'preparing') return answer;
  if (answer !== undefined && !answer.isBeaten && !isHeadAbove(world, source, answer, appid))
    return answer.greatest;
  return yield* maxAfterRaise(world, instance, appid);
}

function* maxAfterRaise(
  world: ModelWorld,
  instance: Instance,
  appid: string,
): ModelSteps<Date | ReadRefusal> {
  yield* raiseMark(world, instance, appid);
  const answer = yield* asOfNewest(world, instance, sourceFor(world, instance), appid);
  if (answer === 'preparing') return answer;
  return answer?.greatest ?? 'not-watched';
}

/** Compared with the fence, and not with the answer: a stamp that was lowered, deleted or moved would raise for ever. */
function isHeadAbove(
  world: ModelWorld,
  { progress }: Source,
  { moment: { fence } }: MaxAnswer,
  appid: string,
): boolean {
  const head = progress().heads.get(appid);
  return head !== undefined && head > fence && !world.has('no heads');
}

/** What was answered last, where its moment can still be shown and no stamp is greater; looked at at once. */
function* lastAnswer(world: ModelWorld, instance: Instance, appid: string): ModelSteps<Date | undefined> {
  const answer = instance.answers.get(appid);
  if (answer === undefined) return undefined;
  yield;
  const isBeatenEarly = isBeaten(world, answer.greatest, appid);
  yield;
  const progress = readProgress(world, world.database.now, appid);
  const isKept = progress !== undefined && isShown(answer.moment, progress);
  return isKept && !isBeatenEarly ? answer.greatest : undefined;
}

function isBeaten({ database }: ModelWorld, known: Date, appid: string): boolean {
  const clock = database.clock();
  return stampsIn(database.now, appid).some((stamp) => stamp > known && !isAheadOf(clock, stamp));
}

/** As of the newest moment; nothing where there is none. */
function* asOfNewest(
  world: ModelWorld,
  instance: Instance,
  source: Source,
  appid: string,
): ModelSteps<MaxAnswer | 'preparing' | undefined> {
  const progress = readProgress(world, source.progress(), appid);
  if (progress === undefined) return 'preparing';
  yield;
  const moment = newestMoment(readMoments(source.progress(), appid), progress);
  const last = instance.answers.get(appid);
  if (source.isKnown && moment !== undefined && last?.moment.at.equals(moment.at)) return last;
  yield;
  if (moment === undefined) return undefined;
  const state = asOf(world, progress, moment);
  const clock = world.database.clock();
  const isBeatenThen = stampsIn(state, appid).some(
    (stamp) => stamp > moment.fence && !isAheadOf(clock, stamp),
  );
  const answer = { moment, greatest: greatestUpTo(moment.fence, state, appid), isBeaten: isBeatenThen };
  instance.answers.set(appid, answer);
  return answer;
}

function isAheadOf(clock: Date, stamp: Date): boolean {
  return stamp.getTime() > clock.getTime() + FUTURE_TOLERANCE_MS;
}

function withoutMark(world: ModelWorld, appid: string): Date | ReadRefusal {
  const { database } = world;
  const watched = watchedBy(database.now, appid);
  if (readProgress(world, database.now, appid) === undefined || watched === undefined) return 'preparing';
  return greatestUpTo(database.clock(), database.asOf(watched), appid);
}

function greatestUpTo(fence: Date, state: ModelState, appid: string): Date {
  const below = stampsIn(state, appid).filter((stamp) => stamp <= fence);
  return below.reduce((greatest, stamp) => (stamp > greatest ? stamp : greatest), NONE_YET);
}

function stampsIn({ records, ledger }: ModelState, of: string): Date[] {
  const ofRecords = [...records.values()].filter(({ appid }) => appid === of);
  const ofTombstones = [...ledger.values()].filter((entry) => !entry.alive && entry.identity.appid === of);
  return [...ofRecords, ...ofTombstones].flatMap(({ lastupdated }) => lastupdated ?? []);
}
