import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { isMomentGone, readAsOf, type SnapshotOptions } from '../../../database/index.js';
import { COLLECTION_OF, IDENTITY_TEXTS, isObjectId, type Kind } from '../../../record/index.js';
import { type StoredIdentity, withTold } from '../../ledger/index.js';
import { type DeletedEvent, isWritten, type WrittenEvent } from '../../log/index.js';
import type { TermAtWork } from '../../progress/index.js';
import { isKnownBefore, type Knowledge } from '../rules/knowledge.js';

type RecordEvent = WrittenEvent | DeletedEvent;

/**
 * A change tells only what it changed, and the ledger what the record was. Where the ledger does not know it, does not know
 * which of two it was, or knows what a later change has made of it, the record is read as of that very event: a term that
 * is cut off between two writes leaves each of these behind.
 */
@Injectable()
export class Completion {
  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** The events, read as a whole if their identity would otherwise be unknown. */
  async complete<E extends { type: string }>(
    kind: Kind,
    events: (E | RecordEvent)[],
    { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
    term: TermAtWork,
  ): Promise<(E | RecordEvent)[]> {
    const named = new Set<string>();
    const completed: (E | RecordEvent)[] = [];
    for (const event of events) {
      if (!isWritten(event) || !isObjectId(event.owner)) {
        completed.push(event);
        continue;
      }
      const key = event.owner.toHexString();
      const isNamed = event.whole || named.has(key) || isKnownBefore(event.place, key, { owned, partials });
      named.add(key);
      if (isNamed) completed.push(event);
      else {
        completed.push(await this.asWhole(kind, event, event.owner));
        term.showLife();
      }
    }
    return completed;
  }

  private async asWhole(kind: Kind, event: WrittenEvent, _id: mongo.ObjectId): Promise<WrittenEvent> {
    const read = (snapshot?: SnapshotOptions) =>
      this.connection
        .collection(COLLECTION_OF[kind])
        .findOne({ _id }, { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS } });
    const found = await readAsOf(this.connection.getClient(), event.at, read).catch((error: unknown) => {
      if (isMomentGone(error)) return read();
      throw error;
    });
    if (found === null) return event;
    const fields = Object.entries(found as StoredIdentity).filter(([, value]) => value !== null);
    return { ...event, whole: true, identity: withTold(Object.fromEntries(fields), event.identity) };
  }
}
