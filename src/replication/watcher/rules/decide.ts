import type { mongo } from 'mongoose';
import { FUTURE_TOLERANCE_MS } from '../../../database/pure.js';
import { isObjectId, type Kind } from '../../../record/pure.js';
import { type Identity, identityKey, type LedgerChange, type Rival } from '../../ledger/pure.js';
import type { AnnouncedEvent, DeletedEvent, TombstoneEvent, WrittenEvent } from '../../log/pure.js';
import {
  type Fences,
  type KnownFences,
  type MarkKey,
  markName,
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
  seenTombstones: Identity[];
  moments: StoredMoment[];
  /** Records with a number as `id` that feeds have left out so far, since the ledger did not know it. */
  revealed: mongo.ObjectId[];
  /** Records that are ignored from here on: another one is known under the text of their number. */
  rivals: Rival[];
}

/** The events that concern one kind, in commit order. */
export type KindEvent = WrittenEvent | DeletedEvent | TombstoneEvent | AnnouncedEvent;

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
  const learned: Learned = { changes: new Map(), revealed: new Map(), rivals: [] };
  const late = new Map<string, Late>();
  const lateTombstones = new Map<string, Late>();
  const seen = new Map<string, Identity>();
  const moments: StoredMoment[] = [];
  for (const event of events) {
    if (event.type === 'announced') {
      moments.push(momentOf(event));
      pass(event, fences, knowledge.passed);
    } else if (event.type === 'tombstone') {
      const identity = tombstones.get(event.entry.toHexString());
      if (identity === undefined) continue;
      seen.set(identityKey(identity), identity);
      keepLate(lateTombstones, tombstoneLateness(event, identity, fences));
    } else if (isObjectId(event.owner)) {
      learn(kind, event, knowledge, learned);
      if (event.type === 'written') keepLate(late, recordLateness(kind, event, knowledge, fences));
    }
  }
  const decisions = {
    ledger: [...learned.changes.values()],
    late: [...late.values()],
    lateTombstones: [...lateTombstones.values()],
    seenTombstones: [...seen.values()],
    moments,
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

/**
 * Rule 1: a stamp that is bad, or not above the fence that its record's mark had when the change was committed. One that is
 * written without an `id` is shown to nobody, and the write that gives it one stamps it, too.
 */
function recordLateness(
  kind: Kind,
  event: WrittenEvent,
  { owned, partials }: KnowledgeAfter,
  fences: KnownFences,
): Late | undefined {
  if (event.isKeyOnly) return undefined;
  const _id = event.owner as mongo.ObjectId;
  const { organizationid, appid, id } =
    owned.get(_id.toHexString())?.[0] ?? partials.get(_id.toHexString()) ?? {};
  if (organizationid === undefined || appid === undefined || (event.whole && id === undefined))
    return undefined;
  const fence = fences.get(markName({ organizationid, appid, kind }));
  const reason = lateness(event.stamp, fence, event.at);
  return reason && { _id, reason, ...(fence && { fence }) };
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
export function isAhead(stamp: Date, at: mongo.Timestamp): boolean {
  return stamp.getTime() > at.getHighBitsUnsigned() * 1000 + FUTURE_TOLERANCE_MS;
}

function keepLate(late: Map<string, Late>, one: Late | undefined): void {
  if (one === undefined) return;
  const key = one._id.toHexString();
  const before = late.get(key)?.fence;
  const fence = before !== undefined && (one.fence === undefined || before > one.fence) ? before : one.fence;
  late.set(key, { ...one, ...(fence && { fence }) });
}
