import type { KindEvent } from '../../../src/replication/watcher/rules/decide.js';
import type { Knowledge, Owned } from '../../../src/replication/watcher/rules/knowledge.js';
import { isGone } from '../service/view.js';
import { ORGANIZATION, type StoredEntry } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWatcher } from './watcher.js';

/** Reads what the rules must know before a batch. The ledger may be ahead of it: effects are repeated after a crash. */
export function* knowledgeFor(watcher: ModelWatcher, events: KindEvent[]): ModelSteps<Knowledge> {
  const { database } = watcher.world;
  yield;
  const owned = ownedIn([...database.now.ledger.values()], ownersOf(events));
  yield;
  const entries = [...database.now.ledger.values()];
  const tombstones = new Map(entries.map(({ key, identity }) => [key, identity]));
  return { owned, partials: new Map(), holders: new Map(), fences: watcher.fences, tombstones };
}

/**
 * The event of a record that the ledger knows under no identity, or under two, is told as a whole: as the record was at
 * that very time, or as it is now where the server does not hold that moment any more. A crash between two writes, or a
 * pass that reads what the stream has yet to tell, can take an identity from a record too early or leave it one too many.
 */
export function completed({ world }: ModelWatcher, events: KindEvent[], { owned }: Knowledge): KindEvent[] {
  if (world.has('events of unknown records not completed')) return events;
  return events.map((event) => {
    if (event.type !== 'written' || event.whole) return event;
    if (owned.get(String(event.owner))?.length === 1) return event;
    const { records } = isGone(world) ? world.database.now : world.database.asOf(event.at);
    const record = records.get(String(event.owner));
    if (record === undefined) return event;
    const present = { organizationid: ORGANIZATION, appid: record.appid, id: record.id };
    return { ...event, whole: true, identity: { ...present, ...event.identity } };
  });
}

function ownersOf(events: KindEvent[]): Set<string> {
  const owners = events.map((event) =>
    event.type === 'written' || event.type === 'deleted' ? event.owner : '',
  );
  return new Set(owners.map(String));
}

function ownedIn(entries: StoredEntry[], owners: Set<string>): Owned {
  const owned: Owned = new Map();
  const inOrder = [...entries].sort((one, other) =>
    one.learned < other.learned ? -1 : Number(one.learned > other.learned),
  );
  for (const { alive, owner, identity } of inOrder) {
    const key = String(owner);
    if (alive && owners.has(key)) owned.set(key, [...(owned.get(key) ?? []), identity]);
  }
  return owned;
}
