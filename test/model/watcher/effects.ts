import type { StoredMoment } from '../../../src/replication/mark/moment.js';
import type { WatchedEvent } from '../../../src/replication/watcher/events.js';
import { type Decisions, type KindEvent } from '../../../src/replication/watcher/rules.js';
import { decideAs, asTold } from '../mutants/decisions.js';
import { KIND } from '../world/documents.js';
import type { Steps } from '../world/steps.js';
import { reconcileAll } from './filters.js';
import { completed, knowledgeFor } from './knowledge.js';
import { learn } from './learning.js';
import { reviveSeen, stampLate, stampLateTombstones } from './stamping.js';
import type { Watcher } from './watcher.js';

/** Brings about what follows from a batch of events, one write after the other. All of it may be repeated. */
export function* bringAbout(watcher: Watcher, events: WatchedEvent[]): Steps {
  if (events.length === 0) return;
  const ofRecords = events.filter((event) => event.type !== 'services' && event.type !== 'upheaval');
  const decisions = yield* decisionsOn(watcher, ofRecords);
  yield* oneByOne(watcher, [
    ...decisions.ledger.map((change) => () => learn(watcher, change, ofRecords)),
    () => stampLate(watcher, decisions.late),
    () => stampLateTombstones(watcher, decisions.lateTombstones),
    () => reviveSeen(watcher, decisions.seenTombstones, events.at(-1)!.place),
    ...decisions.moments.map((moment) => () => record(watcher, moment)),
  ]);
  if (events.some((event) => event.type === 'services')) yield* reconcileAll(watcher);
}

/** In their order; those of a term that was abandoned land in any order. */
function* oneByOne(watcher: Watcher, effects: (() => Steps)[]): Steps {
  const { world, own } = watcher;
  const left = [...effects];
  while (left.length > 0) {
    if (own.life.isLeftBehind) watcher.moveTokenTooEarly();
    const next = own.life.isLeftBehind ? world.dice.below(left.length) : 0;
    for (const effect of left.splice(next, 1)) yield* effect();
  }
}

function* record({ world }: Watcher, moment: StoredMoment): Steps {
  yield;
  world.database.write('records a moment', (tx) => tx.recordMoment(moment));
}

function* decisionsOn(watcher: Watcher, events: KindEvent[]): Steps<Decisions> {
  const told = asTold(watcher.world, events);
  const knowledge = yield* knowledgeFor(watcher, told);
  const whole = completed(watcher, told, knowledge);
  return decideAs(watcher.world.mutant, KIND, whole, knowledge);
}
