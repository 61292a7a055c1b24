import type { mongo } from 'mongoose';
import {
  type Identity,
  identityOf as toIdentity,
  isSame,
  type PartialIdentity,
  withTold,
} from '../../../src/replication/ledger/identity.js';
import { knownOf } from '../../../src/replication/watcher/rules/learn.js';
import { ownedIn } from './knowledge.js';
import type { WatchedEvent, WrittenEvent } from '../../../src/replication/log/watched-event.js';
import { concernKey, concernOf } from '../../../src/replication/quarantine/concern.js';
import type { Concern } from '../../../src/replication/quarantine/set-aside.schema.js';
import { isGone } from '../service/view.js';
import { identityOf, KIND, type ModelState, ORGANIZATION, type StoredAside } from '../world/documents.js';
import { RefusedStamp } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';

/** What is added to an entry, or begins one. */
interface Addition {
  concern: Concern;
  events?: number;
  refusals?: number;
  identity?: Identity | undefined;
  above?: Date | undefined;
}

/** What the events are about is looked after from now on, with what it was meanwhile. */
export function* setAsideEvents(world: ModelWorld, events: WatchedEvent[]): ModelSteps {
  for (const event of events) {
    const concern = concernOf(event);
    if (concern === undefined) throw new Error(`Nothing that could be refused: ${event.type}`);
    yield;
    const identity = shownAfter(world, event);
    yield;
    add(world, { concern, events: 1, identity });
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
  const isFollowing = (event: WatchedEvent) => {
    const concern = tellsOfRecord(event) ? concernOf(event) : undefined;
    return concern !== undefined && (quarantine.get(concernKey(concern))?.events ?? 0) > 0;
  };
  yield* setAsideEvents(world, events.filter(isFollowing));
  return events.filter((event) => !isFollowing(event));
}

/** They were looked after. What has grown meanwhile stays. */
export function settle({ database, mutant }: ModelWorld, entries: StoredAside[]): void {
  database.write('settles what was set aside', (tx) => {
    for (const entry of entries) {
      const { events, refusals } = tx.state.quarantine.get(concernKey(entry._id)) ?? {};
      const isSettled = events === entry.events && refusals === entry.refusals;
      if (isSettled || (mutant === 'what has grown in quarantine settled' && events !== undefined))
        tx.settle(entry);
    }
  });
}

/**
 * What a record was as of an event: a whole one tells it, else it is read. Where the server does not hold that moment any
 * more, it is what the record was before the event, with what the event tells.
 */
function shownAfter(world: ModelWorld, event: WatchedEvent): Identity | undefined {
  if (event.type !== 'written') return undefined;
  if (world.has('quarantine of whole events only') && !event.whole) return undefined;
  const { database } = world;
  const isUnheld = !event.whole && isGone(world);
  const record = (isUnheld ? database.now : database.asOf(event.at)).records.get(String(event.owner));
  const present = record && identityOf(record);
  if (!isUnheld || world.has('what was told forgotten')) return present;
  const told = withTold(knownBefore(database.now, event) ?? present ?? {}, event.identity);
  return toIdentity(KIND, event.owner, { organizationid: ORGANIZATION, ...told });
}

/** What a record was before an event: as its last event in quarantine has it, else as the ledger or an incomplete identity has. */
function knownBefore(state: ModelState, { owner }: WrittenEvent): PartialIdentity | undefined {
  const key = String(owner);
  const aside = state.quarantine.get(
    concernKey({ what: 'record', kind: KIND, owner: owner as mongo.ObjectId }),
  );
  const last = aside?.identities.at(-1);
  if (last !== undefined) return last;
  const owned = ownedIn([...state.ledger.values()], new Set([key]));
  return knownOf(key, { owned, partials: new Map(state.incomplete) });
}

function add(
  { database }: ModelWorld,
  { concern, events = 0, refusals = 0, identity, above }: Addition,
): void {
  database.write('sets aside', (tx) => {
    const before = tx.state.quarantine.get(concernKey(concern));
    const known = (before?.identities ?? []).filter((one) => !isSame(one, identity));
    const highest = [before?.above, above].reduce((one, other) => (one! > other! || !other ? one : other));
    tx.setAside({
      _id: concern,
      events: (before?.events ?? 0) + events,
      refusals: (before?.refusals ?? 0) + refusals,
      identities: identity ? [...known, identity] : known,
      ...(highest && { above: highest }),
    });
  });
}

function tellsOfRecord(event: WatchedEvent): boolean {
  return event.type === 'deleted' || (event.type === 'written' && !event.isStampOnly && !event.isKeyOnly);
}
