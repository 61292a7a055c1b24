import { type LogPlace, placeAfter } from '../../../src/replication/protocol/place.js';
import type { StoredLane, StoredPass } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { LostTrack } from './as-of.js';
import { withEntry } from './aside.js';
import { workBatch } from './lane-batch.js';
import { buryAllGone, confirmLedger, forgetStale, learnRecords } from './pass-steps.js';
import { isKindCovered } from './kind-pass.js';
import type { ModelWatcher } from './watcher.js';

/** How likely the stream is worked through between two documents, and the place of the pass is stored. */
const KEEPS_UP = 0.3;
const STORES = 0.2;

class TermOver extends Error {}

/** What a lane cannot read any more a pass of its application makes up for. True where the term is over. */
export function* passDue(lane: ModelWatcher): ModelSteps<boolean> {
  yield;
  const isRepair = !lane.world.has('a pass of one application without repair');
  return !storePass(lane, { isRepair });
}

/**
 * The pass of the application of a lane. What it learns is knowledge of the place at which its stream is opened, which is worked
 * through beside it. True where the term is over.
 */
export function* ownPass(main: ModelWatcher, lane: ModelWatcher): ModelSteps<boolean> {
  try {
    return yield* passOver(main, lane, lane.ownPass!);
  } catch (error) {
    if (error instanceof TermOver) return true;
    if (!(error instanceof LostTrack)) throw error;
    yield;
    const { reached: _lost, ...anew } = lane.ownPass!;
    return !storePass(lane, anew);
  }
}

function* passOver(main: ModelWatcher, lane: ModelWatcher, pass: StoredPass): ModelSteps<boolean> {
  const { world } = lane;
  const { database } = world;
  const { isRepair, isBare, reached } = pass;
  const begun = reached ?? (yield* open(main, lane));
  lane.token = begun.token;
  lane.watched = begun.watched;
  if (database.read(begun.token, 0) === undefined) throw new LostTrack();
  const { at } = begun;
  if (world.has('an application shown before the end of its pass')) storeEnd(lane);
  const steps = [forgetStale, confirmLedger, learnRecords, buryAllGone];
  const due = !isKindCovered(main) ? [] : isBare ? [forgetStale, learnRecords] : steps;
  for (const [step, work] of due.entries()) {
    if (step < begun.step) continue;
    const behind = step === begun.step ? begun.behind : '';
    const advance = (key: string) => keepUp(lane, pass, { at, step, behind: key });
    yield* work(lane, { at, isRepair, behind, advance, reached: () => placeReached(lane, at) });
  }
  yield;
  lane.since = database.newest;
  yield;
  if (!storeEnd(lane)) return true;
  lane.ownPass = undefined;
  return false;
}

function* open(main: ModelWatcher, lane: ModelWatcher): ModelSteps<StoredPass['reached'] & object> {
  const { database } = lane.world;
  yield;
  const [token, watched] = [database.end, database.newest];
  yield;
  lane.takeMarksAsTheyStand();
  if (lane.world.has('a pass of one application with the fences of the term'))
    lane.fences = new Map(main.fencesAtStart);
  const opened = { at: placeAfter(watched), token, watched, step: 0, behind: '' };
  yield;
  if (!lane.world.has('the place of a pass not stored before its effects'))
    if (!storePass(lane, { ...lane.ownPass!, reached: opened })) throw new TermOver();
  return opened;
}

/** How far the stream is worked through by now. */
function placeReached({ world, token }: ModelWatcher, at: LogPlace): LogPlace {
  const reached = world.database.placeBefore(token!);
  return reached !== undefined && reached > at ? reached : at;
}

function* keepUp(
  lane: ModelWatcher,
  pass: StoredPass,
  done: Pick<StoredPass['reached'] & object, 'at' | 'step' | 'behind'>,
): ModelSteps {
  const { dice } = lane.world;
  if (dice.chance(KEEPS_UP) && (yield* workBatch(lane, false)) === 'over') throw new TermOver();
  if (!dice.chance(STORES)) return;
  yield;
  const reached = { ...done, token: lane.token!, watched: lane.watched! };
  if (!storePass(lane, { ...pass, reached })) throw new TermOver();
}

function storePass(lane: ModelWatcher, pass: StoredPass): boolean {
  lane.ownPass = pass;
  return store(lane, `${lane.appid} is due for a pass, or at it`, { pass });
}

function storeEnd(lane: ModelWatcher): boolean {
  const { token, watched, world, since = world.database.newest } = lane;
  return store(lane, `the pass over ${lane.appid} ends`, { place: token!, watched: watched!, since });
}

/** On condition of the term; false where that is over. */
function store(lane: ModelWatcher, what: string, entry: StoredLane): boolean {
  const { world, appid } = lane;
  const { database } = world;
  const lanes = withEntry(lane, appid!, entry);
  if (!world.has('the entry of a pass not bound to the term')) return lane.save(what, { lanes });
  database.write(what, (tx) => tx.writeLease({ ...database.now.lease, lanes }));
  return true;
}
