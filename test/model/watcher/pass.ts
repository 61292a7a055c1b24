import { placeAfter } from '../../../src/replication/protocol/place.js';
import { APPLICATIONS, type StoredLane } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { takeLanes } from './aside.js';
import { reconcileAll } from './filters.js';
import { isKindDue, interruptKindPass } from './kind-pass.js';
import { forgetStale, learnRecords, type ModelPassRun, settleLedger } from './pass-steps.js';
import type { ModelWatcher } from './watcher.js';

/**
 * The pass over everything that is there (design §3), but for applications that it leaves to passes of their own. What it learns is
 * knowledge of the time at which the new stream begins, so that whatever that stream tells overrides it. True where the term is over.
 */
export function* pass(watcher: ModelWatcher): ModelSteps<boolean> {
  const { database } = watcher.world;
  const { since, pass: begun } = database.now.lease;
  const isRepair = since !== undefined || begun !== undefined;
  const isBare = !isRepair && database.now.ledger.size === 0;
  watcher.giveUpLanes();
  interruptKindPass(watcher);
  const isOfKind = isKindDue(watcher.world);
  watcher.later = someLater(watcher);
  const begin = { pass: isRepair ? 'repair' : 'first start', lanes: new Map() };
  if (!watcher.save('begins a pass', begin)) return true;
  yield;
  const token = database.end;
  const beginning = database.newest;
  yield;
  watcher.takeMarksAsTheyStand();
  if (!isOfKind) yield* passOver(watcher, { at: placeAfter(beginning), isRepair });
  yield* reconcileAll(watcher);
  yield;
  const end = database.newest;
  yield;
  watcher.token = watcher.reaching = token;
  watcher.watched = beginning;
  const left = [...watcher.later].map((appid) => [appid, { pass: { isRepair, isBare } }] as const);
  const lanes = new Map<string, StoredLane>(left);
  if (!watcher.save('ends a pass', { token, watched: beginning, since: end, lanes })) return true;
  watcher.later = new Set();
  takeLanes(watcher);
  return false;
}

/** Which are large is not for the model to say. */
function someLater({ world: { dice, profile } }: ModelWatcher): ReadonlySet<string> {
  const { later } = profile.lanes ?? {};
  return new Set(later === undefined ? [] : APPLICATIONS.filter(() => dice.chance(later)));
}

function* passOver(watcher: ModelWatcher, run: ModelPassRun): ModelSteps {
  yield* forgetStale(watcher, run);
  yield* learnRecords(watcher, run);
  yield* settleLedger(watcher, run);
}
