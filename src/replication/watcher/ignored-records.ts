import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { isDeliverable, type PresentRecord } from './mending.js';

const MOST_REMEMBERED = 10_000;
const UNDELIVERABLE = {
  $or: [
    { _id: { $not: { $type: 'objectId' } } },
    { $expr: { $ne: [{ $type: '$organizationid' }, 'string'] } },
    { $expr: { $ne: [{ $type: '$appid' }, 'string'] } },
  ],
};

/** Counts and logs the records that can never be delivered (contract §4, `tidemark_ignored_records`). */
@Injectable()
export class IgnoredRecords {
  private readonly log = new Logger('Watcher');
  private readonly ids: Record<Kind, Set<string>> = { member: new Set(), product: new Set() };

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
  ) {}

  /** Looks through the collections, up to 10,000 ignored records each. */
  async count(): Promise<void> {
    for (const kind of KINDS) {
      const collection = this.connection.collection(COLLECTION_OF[kind]);
      const found = await collection
        .find(UNDELIVERABLE as mongo.Filter<mongo.Document>, {
          limit: MOST_REMEMBERED,
          projection: { _id: 1 },
        })
        .toArray();
      this.ids[kind] = new Set(found.map((record) => keyOf(record._id)));
      this.tell(kind);
    }
  }

  /** Takes note of records as they stand. */
  see(kind: Kind, records: PresentRecord[]): void {
    for (const record of records) {
      const key = keyOf(record._id);
      if (isDeliverable(record)) this.ids[kind].delete(key);
      else if (!this.ids[kind].has(key) && this.ids[kind].size < MOST_REMEMBERED) {
        this.ids[kind].add(key);
        this.log.warn(
          `A ${kind} is ignored: its _id is no ObjectId, or organizationid or appid no text: ${key}`,
        );
      }
    }
    this.tell(kind);
  }

  forget(kind: Kind, ids: unknown[]): void {
    for (const id of ids) this.ids[kind].delete(keyOf(id));
    this.tell(kind);
  }

  private tell(kind: Kind): void {
    this.metrics.ignoredRecords.set({ kind }, this.ids[kind].size);
  }
}

function keyOf(id: unknown): string {
  return mongoose.mongo.BSON.EJSON.stringify({ _id: id });
}
