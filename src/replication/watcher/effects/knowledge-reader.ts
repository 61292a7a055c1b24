import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { isMomentGone, readAsOf, type SnapshotOptions } from '../../../platform/database/index.js';
import type { Kind } from '../../../kinds/index.js';
import { recordsIn, IDENTITY_TEXTS, isObjectId } from '../../../record/index.js';
import {
  type StoredIdentity,
  updatedIdentity,
  type DeletedEvent,
  type WrittenEvent,
  isPartial,
  isKnownBefore,
  type Knowledge,
  certainMoves,
  unnamedAmong,
  unnamedInShare,
  type DeadIdentity,
  type WatchedEvent,
  type AppShare,
  claimsIn,
  type KindEvent,
  ownHalves,
  type Owned,
} from '../../protocol/index.js';
import { HistoryLostError } from '../log/change-stream.js';
import {
  type MovesKnown,
  type TermAtWork,
  IncompleteIdentities,
  Ledger,
  ShownIdentities,
} from '../../store/index.js';
import { Claimants } from '../stamping/claimants.js';

type RecordEvent = WrittenEvent | DeletedEvent;

/** Number of records that are read concurrently. */
const AT_ONCE = 10;
const GONE =
  'the log shows only a part of a change, and the server no longer retains the moment of that change';

/**
 * An event shows only what it changed, and the ledger shows what the record was before. The record is read as of the event
 * if the ledger does not know it, knows two identities for it, or knows the result of a later change. A term that is
 * interrupted between two writes can cause each of these. The record is also read if a field was removed: if the document
 * contained that field twice, the other one is visible from then on.
 */
@Injectable()
export class Completion {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly shown: ShownIdentities,
  ) {}

  /**
   * Returns the events. Those whose identity would otherwise be unknown are completed from the whole record. Throws a
   * HistoryLostError if the server no longer holds the moment of such an event, because the identity is then unknown.
   * There is one exception, in a term whose share is all applications: if the record is known, and is read only because
   * the event may have removed a field, its current state is used.
   */
  async complete<E extends { type: string }>(
    kind: Kind,
    events: (E | RecordEvent)[],
    knowledge: Pick<Knowledge, 'owned' | 'partials'>,
    term: TermAtWork,
  ): Promise<(E | RecordEvent)[]> {
    const { share, moves } = term;
    const isShare = isPartial(share);
    const unnamed = isShare ? unnamedInShare(events, knowledge, share) : unnamedAmong(events, knowledge);
    if (isShare && 'but' in share)
      for (const [event, identity] of certainMoves(events, knowledge)) moves?.set(eventKey(event), identity);
    const completed = new Map<E | RecordEvent, WrittenEvent>();
    for (let start = 0; start < unnamed.length; start += AT_ONCE) {
      const some = unnamed.slice(start, start + AT_ONCE);
      const whole = await Promise.all(
        some.map((event) =>
          this.asWhole(kind, event, { moves, mayBeLate: !isShare && isKnown(event, knowledge) }),
        ),
      );
      for (const [index, event] of some.entries()) completed.set(event, whole[index]!);
      term.showLife();
    }
    return events.map((event) => completed.get(event) ?? event);
  }

  private async asWhole(
    kind: Kind,
    event: WrittenEvent,
    { moves, mayBeLate }: { moves: MovesKnown | undefined; mayBeLate: boolean },
  ): Promise<WrittenEvent> {
    const read = (snapshot?: SnapshotOptions) =>
      recordsIn(this.connection, kind).findOne<StoredIdentity>(
        { _id: event.owner as mongo.ObjectId },
        { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS } },
      );
    const known = moves?.get(eventKey(event));
    if (known !== undefined) {
      this.shown.remember(event, known);
      return { ...event, whole: true, identity: known };
    }
    let isLate = false;
    const found = await readAsOf(this.connection.getClient(), event.at, read).catch((error: unknown) => {
      if (!isMomentGone(error)) throw error;
      isLate = mayBeLate;
      if (isLate) return read();
      throw new HistoryLostError(GONE);
    });
    if (!isLate) this.shown.remember(event, found);
    if (found === null) return event;
    const fields = Object.entries(found).filter(([, value]) => value !== null);
    const identity = updatedIdentity(Object.fromEntries(fields), textsIn(event.identity));
    moves?.set(eventKey(event), identity);
    return { ...event, whole: true, identity };
  }
}

/** A name of the event that is the same in every loop. */
function eventKey({ kind, place }: WrittenEvent): string {
  return `${place} ${kind}`;
}

function isKnown({ owner, place }: WrittenEvent, knowledge: Pick<Knowledge, 'owned' | 'partials'>): boolean {
  return isKnownBefore(place, (owner as mongo.ObjectId).toHexString(), knowledge);
}

/** Omits the fields that are not text after the event. */
function textsIn(identity: StoredIdentity): StoredIdentity {
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== false));
}

/** What is known of the records of a batch before it, and its events, completed with missing parts of identities. */
interface KnowledgeRead extends Pick<Knowledge, 'owned' | 'partials' | 'holders'> {
  events: KindEvent[];
}

/** Reads what the rules need to know for a batch, and nothing else. */
@Injectable()
export class KnowledgeReader {
  constructor(
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly completion: Completion,
    private readonly claimants: Claimants,
  ) {}

  /** Resolves tombstone events to identities. The identity of a ledger entry never changes. */
  async tombstonesIn(events: WatchedEvent[], share: AppShare): Promise<Map<string, DeadIdentity>> {
    const seen = events.flatMap((event) => (event.type === 'tombstone' ? [event.entry] : []));
    const entries = await this.ledger.among(seen, share);
    return new Map(entries.map((entry) => [entry._id.toHexString(), entry]));
  }

  /** Reads what the share of the term knows. Returns only the events that concern this share. */
  async read(
    kind: Kind,
    events: KindEvent[],
    tombstones: Knowledge['tombstones'],
    term: TermAtWork,
  ): Promise<KnowledgeRead> {
    const { share } = term;
    const owners = ownersOf(events);
    const [owned, partials] = await Promise.all([
      this.owned(kind, owners, share),
      this.incomplete.among(kind, owners, share),
    ]);
    const completed = await this.completion.complete(kind, events, { owned, partials }, term);
    const named = isPartial(share) ? ownHalves(completed, { owned, partials, tombstones }, share) : completed;
    const holders = await this.claimants.holders(kind, claimsIn(kind, named, { owned, partials }));
    return { events: named, owned, partials, holders };
  }

  private async owned(kind: Kind, owners: mongo.ObjectId[], share: AppShare): Promise<Owned> {
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners, share)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }
}

/**
 * Returns the distinct records of the events. A record whose `_id` is not an ObjectId is never delivered and is left out.
 */
export function ownersOf(events: KindEvent[]): mongo.ObjectId[] {
  const owners = events.map((event) => ('owner' in event ? event.owner : undefined)).filter(isObjectId);
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}
