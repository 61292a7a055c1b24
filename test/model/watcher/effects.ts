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
  for (const change of decisions.ledger) yield* learn(watcher, change, ofRecords);
  yield* stampLate(watcher, decisions.late);
  yield* stampLateTombstones(watcher, decisions.lateTombstones);
  yield* reviveSeen(watcher, decisions.seenTombstones, events.at(-1)!.place);
  for (const moment of decisions.moments) {
    yield;
    watcher.world.database.write('records a moment', (tx) => tx.recordMoment(moment));
  }
  if (events.some((event) => event.type === 'services')) yield* reconcileAll(watcher);
}

function* decisionsOn(watcher: Watcher, events: KindEvent[]): Steps<Decisions> {
  const told = asTold(watcher.world, events);
  const knowledge = yield* knowledgeFor(watcher, told);
  const whole = completed(watcher, told, knowledge);
  return decideAs(watcher.world.mutant, KIND, whole, knowledge);
}
