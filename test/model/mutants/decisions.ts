import type { Kind } from '../../../src/kinds/index.js';
import {
  type FilterVersionChange,
  reconciled,
  type WantedFilter,
} from '../../../src/replication/protocol/filter-version.js';
import type { LedgerChange } from '../../../src/replication/protocol/identity.js';
import { decide, type Decided, type KindEvent } from '../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../src/replication/protocol/learn.js';
import { ORGANIZATION } from '../world/documents.js';
import type { ModelWorld } from '../world/world.js';
import type { MutantName } from './names.js';

/** The product's rules, but for what the mutant spoils. */
export function decideAs(
  mutant: MutantName | undefined,
  kind: Kind,
  events: KindEvent[],
  knowledge: Knowledge,
): Decided {
  if (mutant === '< for <=') return decideWithLowerFences(kind, events, knowledge);
  const decided = decide(kind, events, knowledge);
  const { decisions } = decided;
  if (mutant === 'rule 1 left out') decisions.late = [];
  if (mutant === 'rule 2 left out') decisions.lateTombstones = [];
  if (mutant === 'rule 3 left out') decisions.ledger = decisions.ledger.filter((change) => change.alive);
  if (mutant === 'rule 4 left out' || mutant === 'rule 4 on inserts only') decisions.seenTombstones = [];
  return decided;
}

/** To compare with `<` is to compare with `<=` against a fence one millisecond lower. Moments keep theirs. */
function decideWithLowerFences(kind: Kind, events: KindEvent[], knowledge: Knowledge): Decided {
  const lowered = events.map((event) =>
    event.type === 'announced' ? { ...event, fence: moved(event.fence, -1) } : event,
  );
  const decided = decide(kind, lowered, knowledge);
  const { decisions } = decided;
  decisions.moments = decisions.moments.map((moment) => ({ ...moment, fence: moved(moment.fence, 1) }));
  return decided;
}

function moved(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds);
}

/** Whether the record of a resurrection is stamped above its tombstone. */
export function isResurrectionHandled(
  mutant: MutantName | undefined,
  { at }: LedgerChange,
  cause: KindEvent[],
): boolean {
  if (mutant === 'rule 4 left out') return false;
  if (mutant !== 'rule 4 on inserts only') return true;
  return !cause.some((event) => event.type === 'written' && !event.whole && event.place === at);
}

/** The product's decision on a filter, but for what the mutant spoils. */
export function filterChange(
  mutant: MutantName | undefined,
  entry: FilterVersionChange | undefined,
  wanted: WantedFilter,
): FilterVersionChange | undefined {
  const change = reconciled(entry, wanted);
  if (change === undefined || mutant !== 'rule 5 left out') return change;
  const { previous: _nobody, ...rest } = change;
  return { ...rest, pending: false };
}

/** The events as they were told; for one mutant as a look at the records would tell them. */
export function asTold({ mutant, database }: ModelWorld, events: KindEvent[]): KindEvent[] {
  if (mutant !== 'look-up instead of event') return events;
  return events.flatMap((event): KindEvent[] => {
    if (event.type !== 'written') return [event];
    const record = database.now.records.get(String(event.owner));
    if (record === undefined) return [];
    const identity = { organizationid: ORGANIZATION, appid: record.appid, id: record.id };
    return [{ ...event, whole: true, identity }];
  });
}
