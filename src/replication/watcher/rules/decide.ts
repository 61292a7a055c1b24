import type { mongo } from 'mongoose';
import { isObjectId, type Kind } from '../../../record/pure.js';
import { type DeadIdentity, identityKey, type LedgerChange, type Rival } from '../../ledger/pure.js';
import type { AnnouncedEvent, DeletedEvent, TombstoneEvent, WrittenEvent } from '../../log/pure.js';
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
} from '../../mark/pure.js';
import type { Late, Reason } from '../../stamping/index.js';
import { begun, type Knowledge, type KnowledgeAfter } from './knowledge.js';
import { learn, type Learned } from './learn.js';

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
