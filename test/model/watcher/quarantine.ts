import type { mongo } from 'mongoose';
import {
  type Identity,
  identityOf as toIdentity,
  isSame,
  type PartialIdentity,
  updatedIdentity,
} from '../../../src/replication/protocol/identity.js';
import { ownedIn } from './knowledge.js';
import type { WatchedEvent, WrittenEvent } from '../../../src/replication/protocol/events.js';
import { concernKey, concernOf } from '../../../src/replication/store/quarantine.js';
import type { Concern, LastKnown } from '../../../src/replication/store/collections.schema.js';
import { isGone } from '../service/view.js';
import { asideId, identityOf, KIND, ORGANIZATION, type StoredAside } from '../world/documents.js';
import { RefusedStamp } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';

/** What is known of a record as of a place in the log; as of none that counts without it. */
type Known = PartialIdentity | LastKnown;

/** What is added to an entry, or begins one. */
interface Addition {
  concern: Concern;
  events?: number;
  refusals?: number;
  identity?: Identity | undefined;
  known?: LastKnown | undefined;
  above?: Date | undefined;
}

/** What a record was after an event. */
type Shown = Pick<Addition, 'identity' | 'known'>;

/** What the events are about is looked after from now on, with what it was meanwhile. */
export function* setAsideEvents(world: ModelWorld, events: WatchedEvent[]): ModelSteps {
  for (const event of events) {
    const concern = concernOf(event);
    if (concern === undefined) throw new Error(`Nothing that could be refused: ${event.type}`);
    yield;
    const shown = shownAfter(world, event);
    yield;
    add(world, { concern, events: 1, ...shown });
  }
}

/** A record that could not be worked through, with what it is now. */
export function* setAside(world: ModelWorld, concern: Concern): ModelSteps {
  yield;
  const record = concern.what === 'record' && world.database.now.records.get(String(concern.owner));
  yield;
  add(world, { concern, events: 1, identity: record ? identityOf(record) : undefined });
}

/** What cannot be stamped is looked after from now on. The ledger knows what it is all the same. */
export function* setAsideRefused(world: ModelWorld, concern: Concern, above?: Date): ModelSteps {
  yield;
  add(world, { concern, refusals: 1, above });
}

/** A write of a stamp, or what it stamps is set aside. */
export function* stampOrSetAside(world: ModelWorld, write: () => void): ModelSteps {
  try {
    write();
  } catch (error) {
    if (!(error instanceof RefusedStamp)) throw error;
    const { owner, above } = error;
    yield* setAsideRefused(world, { what: 'record', kind: KIND, owner }, above);
  }
}

/** A record that cannot take its stamp is set aside before its entry lives all the same. */
export function* reviveOrSetAside(world: ModelWorld, revive: (stamp: boolean) => void): ModelSteps {
  let isStamped = false;
  yield* stampOrSetAside(world, () => {
    revive(true);
    isStamped = true;
  });
  if (isStamped) return;
  yield;
  revive(false);
}

/** The events of records whose earlier events were set aside follow them. Answers all others. */
export function* withoutFollowing(world: ModelWorld, events: WatchedEvent[]): ModelSteps<WatchedEvent[]> {
  const { quarantine } = world.database.now;
  if (quarantine.size === 0) return events;
  const entryOf = (event: WatchedEvent) => {
    const concern = tellsOfRecord(event) ? concernOf(event) : undefined;
    return concern && quarantine.get(concernKey(concern));
  };
  const isFollowing = (event: WatchedEvent) => (entryOf(event)?.events ?? 0) > 0;
  const refused = events.flatMap((event) => (isFollowing(event) ? [] : (entryOf(event) ?? [])));
  yield* renew(world, refused);
  yield* setAsideEvents(world, events.filter(isFollowing));
  return events.filter((event) => !isFollowing(event));
}

/** Entries that have only refusals are new ones from now on: a look that is under way does not settle them. */
function* renew(world: ModelWorld, refused: StoredAside[]): ModelSteps {
  if (refused.length === 0 || world.has('an event of a refused record settled by an earlier look')) return;
  yield;
  world.database.write('renews what was set aside', (tx) => {
    for (const { _id } of refused) {
      const stored = tx.state.quarantine.get(concernKey(_id));
      if (stored?.events === 0) tx.setAside({ ...stored, entry: asideId((world.asides += 1)) });
    }
  });
}

/** They were handled. Entries that have more events since, or are new, stay; of those refused again only the refusals. */
export function settle(world: ModelWorld, entries: StoredAside[]): void {
  world.database.write('settles what was set aside', (tx) => {
    for (const entry of entries) {
      const stored = tx.state.quarantine.get(concernKey(entry._id));
      if (stored === undefined) continue;
      const isSame = stored.entry === entry.entry;
      const isGrown = stored.events !== entry.events || stored.refusals !== entry.refusals;
      if (isSame && (!isGrown || world.has('what has grown in quarantine settled'))) tx.settle(entry);
      else if (isSame && (stored.events === entry.events || world.has('events added meanwhile forgotten'))) {
        const { known: _known, ...refused } = stored;
        tx.setAside({ ...refused, events: 0, identities: [] });
      }
    }
  });
}

/**
 * What a record was as of an event: a whole one tells it, else it is read, or was read when the event was looked at. Where the
 * server does not hold that moment any more, it is what the record was before the event, with what the event tells.
 */
function shownAfter(world: ModelWorld, event: WatchedEvent): Shown {
  if (event.type !== 'written') return {};
  if (world.has('quarantine of whole events only') && !event.whole) return {};
  const { database } = world;
  const { owner, place } = event;
  const isRead = event.whole || (world.read.has(event) && !world.has('what was read forgotten'));
  const isUnheld = !isRead && isGone(world);
  const record = (isUnheld ? database.now : database.asOf(event.at)).records.get(String(owner));
  const present = record && identityOf(record);
  if (!isUnheld || world.has('what was told forgotten'))
    return { identity: present, known: { ...present, learned: place } };
  const before: Known = knownBefore(world, event) ?? present ?? {};
  if (before.learned !== undefined && before.learned >= place) return {};
  const told = updatedIdentity(before, event.identity);
  const { appid, id, isNumber } = told;
  const known = { organizationid: ORGANIZATION, appid, id, ...(isNumber && { isNumber }) };
  return { identity: toIdentity(KIND, owner, known), known: { ...known, learned: place } as LastKnown };
}

/** What a record was before an event: as the ledger, an incomplete identity or its last event in quarantine has it. */
function knownBefore(world: ModelWorld, { owner, place }: WrittenEvent): Known | undefined {
  const state = world.database.now;
  const key = String(owner);
  const aside = state.quarantine.get(
    concernKey({ what: 'record', kind: KIND, owner: owner as mongo.ObjectId }),
  );
  const owned = ownedIn([...state.ledger.values()], new Set([key])).get(key) ?? [];
  const partials = [...state.incomplete.values()].filter(({ record }) => record === key);
  const learned: Known[] = [...owned, ...partials];
  const before = learned.filter((one) => (one.learned ?? '') < place);
  const newest = [...before, ...(aside?.known ? [aside.known] : [])].reduce<Known | undefined>(
    (one, other) => (one === undefined || (other.learned ?? '') > (one.learned ?? '') ? other : one),
    undefined,
  );
  const [ahead] = learned;
  return newest ?? (ahead && { ...ahead, learned: '' });
}

function add(
  world: ModelWorld,
  { concern, events = 0, refusals = 0, identity, known: last, above }: Addition,
): void {
  world.database.write('sets aside', (tx) => {
    const before = tx.state.quarantine.get(concernKey(concern));
    const known = (before?.identities ?? []).filter((one) => !isSame(one, identity));
    const highest = [before?.above, above].reduce((one, other) => (one! > other! || !other ? one : other));
    const isLater = last !== undefined && last.learned > (before?.known?.learned ?? '');
    const latest = isLater ? last : before?.known;
    tx.setAside({
      _id: concern,
      entry: before?.entry ?? asideId((world.asides += 1)),
      events: (before?.events ?? 0) + events,
      refusals: (before?.refusals ?? 0) + refusals,
      identities: identity ? [...known, identity] : known,
      ...(latest && { known: latest }),
      ...(highest && { above: highest }),
    });
  });
}

function tellsOfRecord(event: WatchedEvent): boolean {
  return event.type === 'deleted' || (event.type === 'written' && !event.isStampOnly && !event.isKeyOnly);
}
