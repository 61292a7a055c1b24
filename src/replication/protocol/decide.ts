import type { mongo } from 'mongoose';
import { isObjectId } from '../../record/pure.js';
import type { Kind } from '../../kinds/index.js';
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
import {
  begun,
  type Knowledge,
  type KnowledgeAfter,
  learn,
  type Learned,
  knownOf,
  storedAfter,
  touchesIdentity,
} from './learn.js';
import { isIn, type AppShare } from './place.js';

/** Why a stamp is checked: it is invalid (`bad`), at or below the fence (`late`), or not written by the change (`left`). */
type Reason = 'bad' | 'late' | 'left';

/** A record or tombstone to re-stamp, if its stored stamp is still invalid or not above the fence. */
export interface Late {
  _id: mongo.ObjectId;
  fence?: Date;
  reason: Reason | 'tombstone';
}

/** Why everything in a slice is re-stamped, regardless of its current stamp. */
export type Cause = 'pass' | 'filter' | 'audit' | 'quarantine' | 'number';

/** Why records or tombstones are re-stamped, by the watcher or by the command `resync`. */
export type RestampReason = Late['reason'] | Cause | 'resurrection' | 'resync';

/** The effects of a batch of events. */
export interface Decisions {
  ledger: LedgerChange[];
  /** Rule 1. */
  late: Late[];
  /** Rule 2. */
  lateTombstones: Late[];
  /** Rule 4: tombstones whose record may be alive again. */
  seenTombstones: DeadIdentity[];
  moments: StoredMoment[];
  /** For marks that were raised: the greatest stamps that rules 1 and 2 may leave above the fence. */
  heads: Heads;
  /** Records with a numeric `id` that feeds omitted until now, because the ledger did not contain them. */
  revealed: mongo.ObjectId[];
  /**
   * Records with a numeric `id` that are ignored from now on, because another record, or a hard delete of this batch,
   * is known under the text of that number.
   */
  rivals: Rival[];
}

/** The events that concern one kind, in commit order. */
export type KindEvent = WrittenEvent | DeletedEvent | TombstoneEvent | AnnouncedEvent;

/** The mark of a record, and whether the record has an `id`. */
interface RecordMark extends MarkKey {
  hasId: boolean;
}

/** The result of applying the rules to a batch. */
export interface Decided {
  decisions: Decisions;
  knowledge: KnowledgeAfter;
}

/**
 * Applies the rules of the watcher (design §3) to a batch of events in commit order: the parts that need only the
 * events and what is known from the ledger. Returns what to re-stamp, what the ledger learns, and the new moments. For
 * each identity, only the last change is returned. A record or tombstone to re-stamp is returned once, with the highest
 * fence that it must exceed. The arguments are not modified, so a failed batch can be decided again.
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

/** The moment that an announcement creates when the stream passes it. */
function momentOf({ mark, fence, at }: AnnouncedEvent): StoredMoment {
  return { ...mark, fence, at, passed: new Date(at.getHighBitsUnsigned() * 1000) };
}

/** Puts an announced fence into effect, unless a higher fence is already in effect. */
export function pass({ mark, fence }: AnnouncedEvent, fences: KnownFences, passed: Fences): void {
  const name = markName(mark);
  const known = fences.get(name);
  if (known === undefined || fence > known) passed.set(name, fence);
}

/** The mark of a record after a change, as far as it is known; undefined if the record belongs to no mark. */
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
 * Rule 1: a stamp that is invalid, or not above the fence that its record's mark had when the change was committed. A record
 * that is written without an `id` is not delivered, and the write that adds the `id` also stamps the record.
 */
function recordLateness(event: WrittenEvent, mark: RecordMark, fences: KnownFences): Late | undefined {
  if (event.whole && !mark.hasId) return undefined;
  const fence = fences.get(markName(mark));
  const reason = lateness(event.stamp, fence, event.at);
  return reason && { _id: event.owner as mongo.ObjectId, reason, ...(fence && { fence }) };
}

/**
 * Notes what a change reveals about the greatest stamp of its mark. If the record moves to another mark, joins its
 * first mark, or loses the first of two `lastupdated` fields, the change does not show the stamp. In these cases, the
 * stamp counts as the greatest value that the clock may have reached.
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

/** Rule 2: like {@link recordLateness}, for a tombstone. */
function tombstoneLateness(event: TombstoneEvent, identity: MarkKey, fences: KnownFences): Late | undefined {
  const fence = fences.get(markName(identity));
  const isLate = lateness(event.stamp, fence, event.at) !== undefined;
  return isLate ? { _id: event.entry, reason: 'tombstone', ...(fence && { fence }) } : undefined;
}

/** A change that does not write the stamp may leave a late stamp in place, if the mark has a fence at all. */
function lateness(
  stamp: Date | null | undefined,
  fence: Date | undefined,
  at: mongo.Timestamp,
): Reason | undefined {
  if (stamp === undefined) return fence === undefined ? undefined : 'left';
  if (stamp === null || isAhead(stamp, at)) return 'bad';
  return fence !== undefined && stamp <= fence ? 'late' : undefined;
}

/**
 * Whether the stamp is too far in the future for a change of this cluster time. Of the clock at the change, only the
 * second of the cluster time is known; the write that replaces the stamp compares the stamp with the clock itself.
 */
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
 * The events of a batch as seen by a loop that is responsible for only some applications, its share (design §10). The
 * knowledge is that of the share. Before this call, an event that this knowledge cannot complete must be completed by
 * reading its record. A record that leaves the share appears as a delete; a record that enters it appears as a write.
 * Updates and deletes of records unknown to the share are omitted, because the records belong to another share.
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
