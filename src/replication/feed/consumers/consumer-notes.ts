import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { WriteBehind } from '../../../platform/database/index.js';
import { type Call, type StoredConsumer, consumerName, type Calls, gather, updateOf } from './gathered.js';
import { CONSUMERS } from './consumer-state.js';

const EVERY_MS = 10_000;
/**
 * The maximum number of consumers noted between two writes. Calls of further consumers are not noted until the next
 * write.
 */
const MOST_CONSUMERS = 10_000;
/** The maximum of one user name whose first call was not served, so that it cannot use up the notes of all others. */
const MOST_REFUSED = 2000;
/** The longest name of a service for which such a first call is noted. A channel has room for 1,024 characters. */
const LONGEST_REFUSED = 1100;

/**
 * Records the activity of consumers. A request is noted when it ends. The notes are written every ten seconds, so that no
 * request waits for the write.
 */
@Injectable()
export class ConsumerNotes extends WriteBehind {
  private calls: Calls = new Map();
  private refusedOf = new Map<string, number>();

  constructor(@InjectConnection() private readonly connection: Connection) {
    super('Consumers', EVERY_MS, 'The notes about consumers cannot be written, and are lost.');
  }

  note(call: Call): void {
    const { username, service } = call.key;
    if (!this.calls.has(consumerName(call.key))) {
      if (this.calls.size >= MOST_CONSUMERS) return;
      // The names of requests that are refused, or not answered, can be made up.
      if (call.status === undefined || call.status >= 400) {
        const others = this.refusedOf.get(username) ?? 0;
        if (others >= MOST_REFUSED || service.length > LONGEST_REFUSED) return;
        this.refusedOf.set(username, others + 1);
      }
    }
    gather(this.calls, call);
  }

  /**
   * Notes of a failed write are lost: the totals miss their calls, and any other fact is missing until a later call of
   * the same sort renews it.
   */
  protected override async write(): Promise<void> {
    const gathered = [...this.calls.values()];
    if (gathered.length === 0) return;
    this.calls = new Map();
    this.refusedOf = new Map();
    const updates = gathered.map((one) => ({
      updateOne: { filter: { _id: { $eq: one._id } }, update: updateOf(one), upsert: one.isFound },
    }));
    await this.connection.db!.collection<StoredConsumer>(CONSUMERS).bulkWrite(updates, { ordered: false });
  }
}
