import type { WatchedEvent } from '../../../src/replication/log/watched-event.js';
import type { Heads } from '../../../src/replication/mark/head.js';
import type { StoredMoment } from '../../../src/replication/mark/moment.js';
import type { Decisions, KindEvent } from '../../../src/replication/watcher/rules/decide.js';
import { asTold, decideAs } from '../mutants/decisions.js';
import { KIND } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { reconcileAll } from './filters.js';
import { completed, knowledgeFor } from './knowledge.js';
import { learn } from './learning.js';
import { reviveSeen, stampLate, stampLateTombstones } from './stamping.js';
import type { ModelWatcher } from './watcher.js';

/**
 * Brings about what follows from a batch of events, one write after the other. All of it may be repeated. Gives the heads that
 * are still to be written.
 */
export function* bringAbout(watcher: ModelWatcher, events: WatchedEvent[]): ModelSteps<Heads> {
  if (events.length === 0) return new Map();
  const ofRecords = events.filter((event) => event.type !== 'services' && event.type !== 'collectionLost');
  const decisions = yield* decisionsOn(watcher, ofRecords);
  yield* oneByOne(watcher, [
    ...decisions.ledger.map((change) => () => learn(watcher, change, ofRecords)),
    () => stampLate(watcher, decisions.late),
    () => stampLateTombstones(watcher, decisions.lateTombstones),
    () => reviveSeen(watcher, decisions.seenTombstones, events.at(-1)!.place),
    ...decisions.moments.map((moment) => () => record(watcher, moment)),
  ]);
  if (events.some((event) => event.type === 'services')) yield* reconcileAll(watcher);
  return decisions.heads;
}

/** In their order; those of a term that was abandoned land in any order. */
function* oneByOne(watcher: ModelWatcher, effects: (() => ModelSteps)[]): ModelSteps {
  const { world, own } = watcher;
  const left = [...effects];
  while (left.length > 0) {
    if (own.life.isLeftBehind) watcher.moveTokenTooEarly();
    const next = own.life.isLeftBehind ? world.dice.below(left.length) : 0;
    for (const effect of left.splice(next, 1)) yield* effect();
  }
}

function* record({ world }: ModelWatcher, moment: StoredMoment): ModelSteps {
  yield;
  world.database.write('records a moment', (tx) => tx.recordMoment(moment));
}

function* decisionsOn(watcher: ModelWatcher, events: KindEvent[]): ModelSteps<Decisions> {
  const told = asTold(watcher.world, events);
  const knowledge = yield* knowledgeFor(watcher, told);
  const whole = completed(watcher, told, knowledge);
  const decided = decideAs(watcher.world.mutant, KIND, whole, knowledge);
  watcher.pass(decided.knowledge.passed);
  return decided.decisions;
}
