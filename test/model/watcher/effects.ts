import type { LedgerChange, Life } from '../../../src/replication/protocol/identity.js';
import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import type { Heads, StoredMoment } from '../../../src/replication/protocol/marks.js';
import type { Decided, KindEvent } from '../../../src/replication/protocol/decide.js';
import { asTold, decideAs } from '../mutants/decisions.js';
import { KIND } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { lookAtChanged } from './filters.js';
import { forgetComplete, keepIncomplete } from './incomplete.js';
import { knowledgeFor } from './knowledge.js';
import { learn } from './learning.js';
import { endVacant } from './settle-life.js';
import { reveal, reviveSeen, stampLate, stampLateTombstones } from './stamping.js';
import type { ModelWatcher } from './watcher.js';

/** A write, and whether what has to be answered before it was. */
interface DueEffect {
  run: () => ModelSteps;
  isDue?: () => boolean;
}

/**
 * Applies the effects of a batch of events, one write after the other. Every effect may be repeated. Returns the heads that
 * must still be written.
 */
export function* applyEffects(watcher: ModelWatcher, events: WatchedEvent[]): ModelSteps<Heads> {
  if (events.length === 0) return new Map();
  const ofRecords = events.filter((event) => event.type !== 'services' && event.type !== 'collectionLost');
  const { decisions, knowledge } = yield* decisionsOn(watcher, ofRecords);
  const at = events.at(-1)!.place;
  const incomplete = [...knowledge.partials].flatMap(([key, partial]) =>
    partial ? [[key, partial] as const] : [],
  );
  const complete = [...knowledge.partials].flatMap(([key, partial]) => (partial ? [] : [key]));
  const waiting = new Set<string>();
  const unlearned = new Set(decisions.ledger.flatMap((one) => (one.alive ? [String(one.owner)] : [])));
  yield* oneByOne(watcher, [
    ...incomplete.map(
      ([key, partial]) =>
        () =>
          keepIncomplete(watcher, key, partial),
    ),
    ...decisions.ledger.map(
      (change) =>
        function* () {
          yield* learnAndNote(watcher, change, ofRecords, waiting);
          if (change.alive) unlearned.delete(String(change.owner));
        },
    ),
    () => reveal(watcher, decisions.revealed),
    () => stampLate(watcher, decisions.late),
    () => stampLateTombstones(watcher, decisions.lateTombstones),
    () => reviveSeen(watcher, decisions.seenTombstones, at),
    ...complete.map((key) => ({
      run: () => forgetComplete(watcher, key, at, waiting),
      isDue: () => !unlearned.has(key),
    })),
    ...decisions.rivals.map(
      ({ identity }) =>
        () =>
          endVacant(watcher, identity, at),
    ),
    ...decisions.moments.map((moment) => () => record(watcher, moment)),
  ]);
  const isOfMain = watcher.appid === undefined;
  if (isOfMain && events.some((event) => event.type === 'services')) yield* lookAtChanged(watcher);
  return decisions.heads;
}

function* learnAndNote(
  watcher: ModelWatcher,
  change: LedgerChange,
  cause: KindEvent[],
  waiting: Set<string>,
): ModelSteps {
  if (!(yield* learn(watcher, change, cause))) return;
  waiting.add(String((change as Life).owner));
  yield* endVacant(watcher, change.identity, change.at);
}

/** In their order; those of a term that was abandoned land in any order in which each may be sent. */
function* oneByOne(watcher: ModelWatcher, effects: (DueEffect | DueEffect['run'])[]): ModelSteps {
  const { world, own } = watcher;
  const left = effects.map((one): DueEffect => (typeof one === 'function' ? { run: one } : one));
  while (left.length > 0) {
    if (own.life.isLeftBehind) watcher.moveTokenTooEarly();
    const due = left.filter(({ isDue }) => isDue?.() ?? true);
    const next = due[own.life.isLeftBehind ? world.dice.below(due.length) : 0]!;
    left.splice(left.indexOf(next), 1);
    yield* next.run();
  }
}

function* record({ world }: ModelWatcher, moment: StoredMoment): ModelSteps {
  yield;
  world.database.write('records a moment', (tx) => tx.recordMoment(moment));
}

function* decisionsOn(watcher: ModelWatcher, events: KindEvent[]): ModelSteps<Decided> {
  const told = asTold(watcher.world, events);
  const { knowledge, events: named } = yield* knowledgeFor(watcher, told);
  const decided = decideAs(watcher.world.mutant, KIND, named, knowledge);
  watcher.pass(decided.knowledge.passed);
  return decided;
}
