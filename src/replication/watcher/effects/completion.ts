import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { isMomentGone, readAsOf, type SnapshotOptions } from '../../../database/index.js';
import { COLLECTION_OF, IDENTITY_TEXTS, type Kind } from '../../../record/index.js';
import { type StoredIdentity, withTold } from '../../ledger/index.js';
import { type DeletedEvent, stampAt, type WrittenEvent } from '../../log/index.js';
import { isPartial, type TermAtWork } from '../../progress/index.js';
import type { Knowledge } from '../rules/knowledge.js';
import { unnamedAmong, unnamedInShare } from '../rules/unnamed.js';

type RecordEvent = WrittenEvent | DeletedEvent;

/** How many records are read at the same time. */
const AT_ONCE = 10;

/** A record as its event found it: what it is to consumers, and its stamp. */
type RecordRead = StoredIdentity & { stamp?: Date | null | false };

/** The events of a batch with the names that they lacked. */
export interface Completed<E> {
  events: (E | RecordEvent)[];
  /** Whether the server did not hold the moment of one any more, so that its record was read as it is now. */
  isReadLate: boolean;
}

/**
 * A change tells only what it changed, and the ledger what the record was. Where the ledger does not know it, does not know
 * which of two it was, or knows what a later change has made of it, the record is read as of that very event: a term that
 * is cut off between two writes leaves each of these behind. So does a field that was removed: where a document has it twice, the other
 * one shows from then on.
 */
@Injectable()
export class Completion {
  constructor(@InjectConnection() private readonly connection: Connection) {}

  /**
   * The events, read as a whole if their identity would otherwise be unknown. In a share of the applications a record may bring
   * along any stamp, which is read with it, and counts as bad where the moment of the event is gone.
   */
  async complete<E extends { type: string }>(
    kind: Kind,
    events: (E | RecordEvent)[],
    knowledge: Pick<Knowledge, 'owned' | 'partials'>,
    term: TermAtWork,
  ): Promise<Completed<E>> {
    const isShare = isPartial(term.share);
    const unnamed = isShare ? unnamedInShare(events, knowledge) : unnamedAmong(events, knowledge);
    const completed = new Map<E | RecordEvent, WrittenEvent>();
    let isReadLate = false;
    for (let start = 0; start < unnamed.length; start += AT_ONCE) {
      const some = unnamed.slice(start, start + AT_ONCE);
      const whole = await Promise.all(some.map((event) => this.asWhole(kind, event, isShare)));
      for (const [index, event] of some.entries()) {
        completed.set(event, whole[index]!.event);
        isReadLate ||= whole[index]!.isLate;
      }
      term.showLife();
    }
    return { events: events.map((event) => completed.get(event) ?? event), isReadLate };
  }

  private async asWhole(
    kind: Kind,
    event: WrittenEvent,
    isShare: boolean,
  ): Promise<{ event: WrittenEvent; isLate: boolean }> {
    const read = (snapshot?: SnapshotOptions) =>
      this.connection
        .collection(COLLECTION_OF[kind])
        .findOne<RecordRead>(
          { _id: event.owner as mongo.ObjectId },
          { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS, stamp: stampAt('$lastupdated') } },
        );
    let isLate = false;
    const found = await readAsOf(this.connection.getClient(), event.at, read).catch((error: unknown) => {
      if (!isMomentGone(error)) throw error;
      isLate = true;
      return read();
    });
    if (found === null) return { event, isLate };
    const { stamp, ...names } = found;
    const fields = Object.entries(names).filter(([, value]) => value !== null);
    const whole = {
      ...event,
      whole: true,
      identity: withTold(Object.fromEntries(fields), textsIn(event.identity)),
      ...(isShare && event.stamp === undefined && { stamp: (!isLate && stamp) || null }),
    };
    return { event: whole, isLate };
  }
}

/** What the event says of fields that are texts behind it. */
function textsIn(told: StoredIdentity): StoredIdentity {
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== false));
}
