import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { Strays } from '../ledger/index.js';
import { isDeliverable, type PresentRecord } from './mending.js';
import type { Rival } from './rules.js';

const MOST_REMEMBERED = 10_000;
const [FIRST_ID, LAST_ID] = ['0', 'f'].map((digit) => new mongo.ObjectId(digit.repeat(24)));

/** Records whose `_id` is no ObjectId. In `$expr` values of all types have one order, which the index of `_id` knows. */
const STRANGERS = { $or: [{ $expr: { $lt: ['$_id', FIRST_ID] } }, { $expr: { $gt: ['$_id', LAST_ID] } }] };

const HOMELESS = {
  _id: { $type: 'objectId' },
  $or: [
    { $expr: { $ne: [{ $type: '$organizationid' }, 'string'] } },
    { $expr: { $ne: [{ $type: '$appid' }, 'string'] } },
  ],
};

/**
 * Counts and logs the records that can never be delivered (contract §4, `tidemark_ignored_records`): strangers, whose
 * `_id` is no ObjectId, and the homeless, whose organization or application is no text; and rivals, whose
 * `id` is a number under which another record is known.
 */
@Injectable()
export class IgnoredRecords {
  private readonly log = new Logger('Watcher');
  private readonly strangers: Record<Kind, number> = { member: 0, product: 0 };
  private readonly rivals: Record<Kind, number> = { member: 0, product: 0 };
  private readonly homeless: Record<Kind, Set<string>> = { member: new Set(), product: new Set() };

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly strays: Strays,
    private readonly metrics: Metrics,
  ) {}

  /** Looks through the collections, up to 10,000 homeless records each. */
  async count(): Promise<void> {
    for (const kind of KINDS) {
      const found = await this.connection
        .collection(COLLECTION_OF[kind])
        .find(HOMELESS as mongo.Filter<mongo.Document>, { limit: MOST_REMEMBERED, projection: { _id: 1 } })
        .toArray();
      this.homeless[kind] = new Set(found.map((record) => String(record._id)));
      this.rivals[kind] = await this.strays.countRivals(kind);
      await this.countStrangers(kind);
    }
  }

  /** Takes note of what the events tell: strangers that came or went, and the homeless that went. */
  async hear(kind: Kind, events: { type: 'written' | 'deleted'; owner: unknown }[]): Promise<void> {
    const strangers = events.filter(({ owner }) => !(owner instanceof mongo.ObjectId));
    for (const { type, owner } of strangers) {
      if (type === 'written') this.log.warn(`A ${kind} is ignored: its _id is no ObjectId: ${nameOf(owner)}`);
    }
    if (strangers.length > 0) await this.countStrangers(kind);
    for (const { type, owner } of events) if (type === 'deleted') this.homeless[kind].delete(String(owner));
    this.tell(kind);
  }

  /** Takes note of records as they stand. */
  see(kind: Kind, records: PresentRecord[]): void {
    for (const record of records) {
      const key = String(record._id);
      if (isDeliverable(record)) this.homeless[kind].delete(key);
      else if (!this.homeless[kind].has(key) && this.homeless[kind].size < MOST_REMEMBERED) {
        this.homeless[kind].add(key);
        this.log.warn(`A ${kind} is ignored: its organizationid or appid is no text: ${key}`);
      }
    }
    this.tell(kind);
  }

  /** Whether records are ignored since another one is known under the text of their number. */
  hasRivals(kind: Kind): boolean {
    return this.rivals[kind] > 0;
  }

  /** Logs the rivals that are new, and counts all. */
  async hearRivals(kind: Kind, rivals: Rival[]): Promise<void> {
    for (const { owner, identity } of rivals)
      this.log.warn(
        `A ${kind} is ignored: another record is known under its id, the number ${identity.id}: ${owner}`,
      );
    this.rivals[kind] = await this.strays.countRivals(kind);
    this.tell(kind);
  }

  /** What this instance knows is of no worth any more once it does not lead. */
  reset(): void {
    this.metrics.ignoredRecords.reset();
  }

  private async countStrangers(kind: Kind): Promise<void> {
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    this.strangers[kind] = await collection.countDocuments(STRANGERS);
    this.tell(kind);
  }

  private tell(kind: Kind): void {
    this.metrics.ignoredRecords.set(
      { kind },
      this.strangers[kind] + this.rivals[kind] + this.homeless[kind].size,
    );
  }
}

function nameOf(id: unknown): string {
  return mongo.BSON.EJSON.stringify({ _id: id });
}
