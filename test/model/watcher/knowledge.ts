import { identityKey, type PartialIdentity } from '../../../src/replication/protocol/identity.js';
import { claimsIn, type Knowledge, type Owned } from '../../../src/replication/protocol/learn.js';
import type { KindEvent } from '../../../src/replication/protocol/decide.js';
import { unnamedAmong } from '../../../src/replication/protocol/unnamed.js';
import { KIND, type ModelState, type StoredEntry } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import { wholeAsOf } from './as-of.js';
import { ownHalves } from './halves.js';
import type { ModelWatcher } from './watcher.js';

/** What the rules are given: what is known before a batch, and its events with the names that they lack. */
export interface KnownBatch {
  knowledge: Knowledge;
  events: KindEvent[];
}

/** Reads what the rules must know before a batch. The ledger may be ahead of it: effects are repeated after a crash. */
export function* knowledgeFor(watcher: ModelWatcher, told: KindEvent[]): ModelSteps<KnownBatch> {
  const { database } = watcher.world;
  const owners = ownersOf(told);
  yield;
  const isOwn = ({ identity }: StoredEntry) => watcher.owns(identity.appid);
  const owned = ownedIn([...database.now.ledger.values()].filter(isOwn), owners);
  yield;
  const partials = partialsOf(watcher, owners);
  const complete = watcher.isPartial ? ownHalves : completed;
  const events = complete(watcher, told, { owned, partials });
  yield;
  const holders = holdersOf(database.now, events, { owned, partials });
  const entries = [...database.now.ledger.values()].filter(isOwn);
  const tombstones = new Map(entries.map(({ key, identity }) => [key, identity]));
  return { knowledge: { owned, partials, holders, fences: watcher.fences, tombstones }, events };
}

/**
 * The event of a record that the ledger knows under no identity, or under two, is told as a whole: as the record was at
 * that very time. A crash between two writes, or a pass that reads what the stream has yet to tell, can take an identity from a
 * record too early or leave it one too many.
 */
function completed(
  { world }: ModelWatcher,
  events: KindEvent[],
  { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
): KindEvent[] {
  if (world.has('events of unknown records not completed')) return events;
  const unnamed = new Set<KindEvent>(unnamedAmong(events, { owned, partials }));
  return events.map((event) => {
    if (event.type !== 'written' || !unnamed.has(event)) return event;
    return wholeAsOf(world, event) ?? event;
  });
}

function ownersOf(events: KindEvent[]): Set<string> {
  const owners = events.map((event) =>
    event.type === 'written' || event.type === 'deleted' ? event.owner : '',
  );
  return new Set(owners.map(String));
}

export function ownedIn(entries: StoredEntry[], owners: Set<string>): Owned {
  const owned: Owned = new Map();
  const inOrder = [...entries].sort((one, other) =>
    one.learned < other.learned ? -1 : Number(one.learned > other.learned),
  );
  for (const { alive, owner, identity, isNumber, learned } of inOrder) {
    const key = String(owner);
    if (!alive || !owners.has(key)) continue;
    owned.set(key, [...(owned.get(key) ?? []), { ...identity, learned, ...(isNumber && { isNumber }) }]);
  }
  return owned;
}

function partialsOf(watcher: ModelWatcher, owners: Set<string>): Map<string, PartialIdentity> {
  const own = [...watcher.world.database.now.incomplete.values()]
    .filter(({ record, appid }) => owners.has(record) && watcher.owns(appid as string))
    .sort((one, other) => ((one.learned ?? '') < (other.learned ?? '') ? -1 : 1));
  return new Map(own.map(({ record, ...partial }) => [record, partial]));
}

/** Who has the identities that numbers claim, and which numbers have those that texts claim. */
function holdersOf(
  { ledger }: ModelState,
  events: KindEvent[],
  known: Pick<Knowledge, 'owned' | 'partials'>,
): Knowledge['holders'] {
  const { numbers, texts } = claimsIn(KIND, events, known);
  const wanted = new Set(numbers.map(identityKey));
  const wantedOfNumbers = new Set(texts.map(identityKey));
  const holders = [...ledger].filter(
    ([name, { alive, isNumber }]) =>
      alive && (wanted.has(name) || (isNumber === true && wantedOfNumbers.has(name))),
  );
  return new Map(
    holders.map(([name, { owner, isNumber }]) => [
      name,
      { owner: String(owner), ...(isNumber && { isNumber }) },
    ]),
  );
}
