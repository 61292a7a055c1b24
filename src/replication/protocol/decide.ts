import type { mongo } from 'mongoose';
import { isObjectId, type Kind, type Tenant } from '../../record/pure.js';
import {
  type DeadIdentity,
  identityKey,
  type LedgerChange,
  type Rival,
  type PartialIdentity,
  type StoredIdentity,
} from './identity.js';
import type { AnnouncedEvent, DeletedEvent, TombstoneEvent, WrittenEvent } from './events.js';
import {
  countedStamp,
  type Fences,
  greatestAt,
  type Heads,
  type KnownFences,
  type MarkKey,
  markName,
  noteHead,
  type StoredMoment,
  withPassed,
} from './marks.js';
import { begun, type Knowledge, type KnowledgeAfter } from './knowledge.js';
import { learn, type Learned, knownOf, storedAfter, touchesIdentity } from './learn.js';
import { isIn, type AppShare } from './place.js';

/** Why a stamp is looked at: bad in itself, at or below the fence, or left alone by a change. */
type Reason = 'bad' | 'late' | 'left';

/** A record or tombstone to be stamped anew, if its stored stamp is still bad or not above the fence. */
export interface Late {
  _id: mongo.ObjectId;
  fence?: Date;
  reason: Reason | 'tombstone';
}

/** Why everything of a slice is stamped anew, whatever its stamp is. */
export type Cause = 'pass' | 'filter' | 'audit' | 'quarantine' | 'number';

/** Why records or tombstones are stamped anew, by the watcher or by the command `resync`. */
export type RestampReason = Late['reason'] | Cause | 'resurrection' | 'resync';

/** What follows from a batch of events. */
export interface Decisions {
  ledger: LedgerChange[];
  /** Rule 1. */
  late: Late[];
  /** Rule 2. */
  lateTombstones: Late[];
  /** Rule 4: tombstones whose record may live again. */
  seenTombstones: DeadIdentity[];
  moments: StoredMoment[];
  /** Of marks that were raised, what rules 1 and 2 may leave above the fence. */
  heads: Heads;
  /** Records with a number as `id` that feeds have left out so far, since the ledger did not know it. */
  revealed: mongo.ObjectId[];
  /** Records that are ignored from here on: another one is known under the text of their number. */
  rivals: Rival[];
}

/** The events that concern one kind, in commit order. */
export type KindEvent = WrittenEvent | DeletedEvent | TombstoneEvent | AnnouncedEvent;

/** The mark of a record, and whether the record has an `id`. */
interface RecordMark extends MarkKey {
  hasId: boolean;
}

/** What the rules make of a batch. */
export interface Decided {
  decisions: Decisions;
  knowledge: KnowledgeAfter;
}

/**
 * The rules of the watcher (design §3) over a batch of events, in commit order, as far as events and the ledger decide
 * them: what is stamped anew, what the ledger learns, which moments there are. Of the changes of one identity and the
 * stamps of one record only the last counts. Nothing that is given is changed: what fails may be decided once more.
 */
export function decide(kind: Kind, events: KindEvent[], before: Knowledge): Decided {
  const { tombstones } = before;
  const knowledge = begun(before);
  const fences = withPassed(before.fences, knowledge.passed);
  const learned: Learned = { changes: new Map(), numbers: new Set(), revealed: new Map(), rivals: [] };
  const late = new Map<string, Late>();
  const lateTombstones = new Map<string, Late>();
  const seen = new Map<string, DeadIdentity>();
  const moments: StoredMoment[] = [];
  const heads: Heads = new Map();
  for (const event of events) {
    if (event.type === 'announced') {
      moments.push(momentOf(event));
      pass(event, fences, knowledge.passed);
    } else if (event.type === 'tombstone') {
      const identity = tombstones.get(event.entry.toHexString());
      if (identity === undefined) continue;
      seen.set(identityKey(identity), identity);
      keepLate(lateTombstones, tombstoneLateness(event, identity, fences));
      noteHeadOf(heads, identity, event, fences);
    } else if (isObjectId(event.owner)) {
      learn(kind, event, knowledge, learned);
      if (event.type !== 'written') continue;
      const mark = markOf(kind, event, knowledge);
      if (mark === undefined || event.isKeyOnly) continue;
      keepLate(late, recordLateness(event, mark, fences));
      noteHeadOf(heads, mark, event, fences);
    }
  }
  const decisions = {
    ledger: [...learned.changes.values()],
    late: [...late.values()],
    lateTombstones: [...lateTombstones.values()],
    seenTombstones: [...seen.values()],
    moments,
    heads,
    revealed: [...learned.revealed.values()],
    rivals: learned.rivals,
  };
  return { decisions, knowledge };
}

/** Passing an announcement makes a moment. */
function momentOf({ mark, fence, at }: AnnouncedEvent): StoredMoment {
  return { ...mark, fence, at, passed: new Date(at.getHighBitsUnsigned() * 1000) };
}

/** From here on the fence of an announcement counts, unless a higher one does. */
export function pass({ mark, fence }: AnnouncedEvent, fences: KnownFences, passed: Fences): void {
  const name = markName(mark);
  const known = fences.get(name);
  if (known === undefined || fence > known) passed.set(name, fence);
}

/** The mark of a record behind a change, by what is known of it; nothing where it belongs to none. */
function markOf(
  kind: Kind,
  { owner }: WrittenEvent,
  { owned, partials }: KnowledgeAfter,
): RecordMark | undefined {
  const key = (owner as mongo.ObjectId).toHexString();
  const { organizationid, appid, id } = owned.get(key)?.[0] ?? partials.get(key) ?? {};
  if (organizationid === undefined || appid === undefined) return undefined;
  return { organizationid, appid, kind, hasId: id !== undefined };
}

/**
 * Rule 1: a stamp that is bad, or not above the fence that its record's mark had when the change was committed. One that is
 * written without an `id` is shown to nobody, and the write that gives it one stamps it, too.
 */
function recordLateness(event: WrittenEvent, mark: RecordMark, fences: KnownFences): Late | undefined {
  if (event.whole && !mark.hasId) return undefined;
  const fence = fences.get(markName(mark));
  const reason = lateness(event.stamp, fence, event.at);
  return reason && { _id: event.owner as mongo.ObjectId, reason, ...(fence && { fence }) };
}

/**
 * What a change tells of the greatest stamp. A record that comes to another mark, or only now belongs to one, brings along a
 * stamp that is not told, and so does one that loses the first of two: then as far as the clock may have come.
 */
function noteHeadOf(
  heads: Heads,
  { organizationid, appid, kind }: MarkKey,
  event: WrittenEvent | TombstoneEvent,
  fences: KnownFences,
): void {
  const mark = { organizationid, appid, kind };
  const fence = fences.get(markName(mark));
  if (fence === undefined) return;
  const { stamp, at } = event;
  if (stamp) noteHead(heads, { mark, stamp: countedStamp(stamp, at) });
  else if (event.type === 'written' && mayBringStamp(event)) noteHead(heads, { mark, stamp: greatestAt(at) });
}

function mayBringStamp({ stamp, whole, identity }: WrittenEvent): boolean {
  return stamp === undefined ? Object.keys(identity).length > 0 : !whole;
}

/** Rule 2: the same for a tombstone. */
function tombstoneLateness(event: TombstoneEvent, identity: MarkKey, fences: KnownFences): Late | undefined {
  const fence = fences.get(markName(identity));
  const isLate = lateness(event.stamp, fence, event.at) !== undefined;
  return isLate ? { _id: event.entry, reason: 'tombstone', ...(fence && { fence }) } : undefined;
}

/** A change that left the stamp alone may have left a late one, if there is a fence at all. */
function lateness(
  stamp: Date | null | undefined,
  fence: Date | undefined,
  at: mongo.Timestamp,
): Reason | undefined {
  if (stamp === undefined) return fence === undefined ? undefined : 'left';
  if (stamp === null || isAhead(stamp, at)) return 'bad';
  return fence !== undefined && stamp <= fence ? 'late' : undefined;
}

/** The clock was the second of the cluster time at least; whoever writes the stamp looks at the clock itself. */
function isAhead(stamp: Date, at: mongo.Timestamp): boolean {
  return stamp > greatestAt(at);
}

function keepLate(late: Map<string, Late>, one: Late | undefined): void {
  if (one === undefined) return;
  const key = one._id.toHexString();
  const before = late.get(key)?.fence;
  const fence = before !== undefined && (one.fence === undefined || before > one.fence) ? before : one.fence;
  late.set(key, { ...one, ...(fence && { fence }) });
}

/**
 * The events of a batch as a loop with a part of the applications sees them (design §10). The knowledge is that of its share, and
 * an event of which that completes nothing has been read as a whole. A record that leaves the share is deleted in it, and one that
 * comes to it is written. Updates and deletes of records that the share does not know are left out: they are in another share.
 */
export function ownHalves(
  events: KindEvent[],
  { owned, partials, tombstones }: Pick<Knowledge, 'owned' | 'partials' | 'tombstones'>,
  share: AppShare,
): KindEvent[] {
  const standing = new Map<string, PartialIdentity | StoredIdentity | undefined>();
  return events.flatMap((event): KindEvent[] => {
    if (event.type === 'announced') return isIn(share, event.mark) ? [event] : [];
    if (event.type === 'tombstone') {
      const identity = tombstones.get(event.entry.toHexString());
      return identity !== undefined && isIn(share, identity) ? [event] : [];
    }
    if (!isObjectId(event.owner)) return 'only' in share ? [] : [event];
    const key = event.owner.toHexString();
    const before = standing.has(key) ? standing.get(key) : knownOf(key, { owned, partials });
    if (event.type === 'deleted') {
      standing.set(key, undefined);
      return before === undefined ? [] : [event];
    }
    if (before === undefined && !touchesIdentity(event)) return [];
    const now = storedAfter(event, before);
    const isOwn = isIn(share, now);
    standing.set(key, isOwn ? now : undefined);
    if (isOwn) return [event];
    const { at, place, kind, owner } = event;
    return before === undefined ? [] : [{ type: 'deleted', at, place, kind, owner }];
  });
}

/** How many events of a batch are about one application. */
interface TenantEvents {
  tenant: Tenant;
  count: number;
}

/** The same by the name of the application. */
export type EventsByTenant = Map<string, TenantEvents>;

/** Counts the events whose application is known. */
export function countByTenant(
  counts: EventsByTenant,
  events: KindEvent[],
  { owned, partials, tombstones }: Pick<Knowledge, 'owned' | 'partials' | 'tombstones'>,
): void {
  for (const event of events) {
    const { organizationid, appid } = namesIn(event);
    if (typeof organizationid !== 'string' || typeof appid !== 'string') continue;
    const name = JSON.stringify([organizationid, appid]);
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { tenant: { organizationid, appid }, count: 1 });
    else known.count += 1;
  }

  function namesIn(event: KindEvent): { organizationid?: unknown; appid?: unknown } {
    if (event.type === 'announced') return event.mark;
    if (event.type === 'tombstone') return tombstones.get(event.entry.toHexString()) ?? {};
    const known = knownOf(String(event.owner), { owned, partials }) ?? {};
    return event.type === 'written' ? { ...known, ...event.identity } : known;
  }
}

/** The application with the most events, if it has at least this number of them. */
export function heaviest(counts: EventsByTenant, atLeast: number): Tenant | undefined {
  const most = [...counts.values()].reduce<TenantEvents | undefined>(
    (best, one) => (best !== undefined && best.count >= one.count ? best : one),
    undefined,
  );
  return most !== undefined && most.count >= atLeast ? most.tenant : undefined;
}
