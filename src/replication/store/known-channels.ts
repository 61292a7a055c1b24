import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { LRUCache } from 'lru-cache';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import { HORIZON_MODEL, type StoredHorizon, CHANNEL_MODEL } from './collections.schema.js';
import { atMost } from '../../platform/common/index.js';
import type { KnownChannel } from '../protocol/index.js';

/**
 * The horizon of an application and kind: the greatest stamp of a hard delete ever removed. Hard deletes above it are kept.
 * The horizon only moves forward, and moves before anything is removed.
 */
@Injectable()
export class Horizon {
  constructor(@InjectModel(HORIZON_MODEL) private readonly horizons: Model<StoredHorizon>) {}

  private get collection(): mongo.Collection<StoredHorizon> {
    return this.horizons.collection as unknown as mongo.Collection<StoredHorizon>;
  }

  /** Undefined if everything is kept. */
  async read({ organizationid, appid }: Tenant, kind: Kind): Promise<Date | undefined> {
    const horizon = await this.collection.findOne({ _id: { organizationid, appid, kind } });
    return horizon?.lastupdated;
  }

  async moveTo(lastupdated: Date, { organizationid, appid }: Tenant, kind: Kind): Promise<void> {
    const _id = { organizationid, appid, kind };
    await this.collection.updateOne({ _id }, { $max: { lastupdated } }, { upsert: true });
  }
}

const REMEMBERED = 10_000;
/** Channels are written again after this time, in case the collection was dropped (milliseconds). */
const REMEMBERED_MS = 60_000;

/** The channels ever seen. A channel stays in the collection unless the collection is dropped. */
@Injectable()
export class KnownChannels {
  private readonly seen = new LRUCache<string, true>({ ...atMost(REMEMBERED), ttl: REMEMBERED_MS });

  constructor(@InjectModel(CHANNEL_MODEL) private readonly channels: Model<KnownChannel>) {}

  async isKnown({ organizationid, appid }: Tenant, channel: string): Promise<boolean> {
    return (await this.channels.exists({ organizationid, appid, channel: { $eq: channel } })) !== null;
  }

  /** The UUID of the collection: a different one after a drop, undefined if there is no collection. */
  async collectionId(): Promise<string | undefined> {
    const { name } = this.channels.collection;
    const [found] = await this.channels.db.db!.listCollections({ name }).toArray();
    return (found as { info?: { uuid?: { toString(): string } } } | undefined)?.info?.uuid?.toString();
  }

  /** Clears the cache, because the collection was replaced. */
  forget(): void {
    this.seen.clear();
  }

  async learn(found: KnownChannel[]): Promise<void> {
    const fresh = new Map(found.map((one) => [keyOf(one), one]));
    for (const key of fresh.keys()) if (this.seen.has(key)) fresh.delete(key);
    if (fresh.size === 0) return;
    await this.channels.collection.bulkWrite(
      [...fresh.values()].map((one) => ({
        updateOne: { filter: one, update: { $setOnInsert: one }, upsert: true },
      })),
      { ordered: false },
    );
    for (const key of fresh.keys()) this.seen.set(key, true);
  }
}

function keyOf({ organizationid, appid, channel }: KnownChannel): string {
  return JSON.stringify([organizationid, appid, channel]);
}
