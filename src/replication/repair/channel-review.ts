import { type Review, REVIEWS } from './channel-review.schema.js';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, FIRST_ID } from '../../record/index.js';
import { KnownChannels } from '../ledger/index.js';
import type { Job } from '../progress/index.js';
import { carriedChannels } from './carried-channels.js';
import { PRESENT, type PresentRecord } from './present-record.js';

const SLICE = 1000;
const BETWEEN_SLICES_MS = 100;
const BETWEEN_LOOKS_MS = 10_000;

/** Where somebody dropped the collection of channels, the channels that products carry are learned again. */
@Injectable()
export class ChannelReview implements Job {
  readonly name = 'The review of channels';

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
  ) {}

  /** One slice, or a look whether the collection is another one. */
  async step(): Promise<number> {
    const stored = await this.reviews.findOne({ _id: 'channels' });
    const collection = (await this.channels.collectionId()) ?? null;
    if (stored === null || stored.collection !== collection) {
      if (stored !== null) this.channels.forget();
      await this.store({ collection, ...(stored !== null && { behind: FIRST_ID }) });
      return 0;
    }
    if (stored.behind === undefined) return BETWEEN_LOOKS_MS;
    const products = await this.products(stored.behind);
    await this.channels.learn(carriedChannels(products));
    const behind = products.length === SLICE ? products.at(-1)!._id : undefined;
    await this.store({ collection, ...(behind && { behind }) });
    return BETWEEN_SLICES_MS;
  }

  private products(behind: mongo.ObjectId): Promise<PresentRecord[]> {
    return this.connection
      .collection(COLLECTION_OF.product)
      .aggregate<PresentRecord>([
        { $match: { _id: { $gt: behind } } },
        { $sort: { _id: 1 } },
        { $limit: SLICE },
        { $project: PRESENT },
      ])
      .toArray();
  }

  private async store(review: Omit<Review, '_id'>): Promise<void> {
    await this.reviews.replaceOne({ _id: 'channels' }, review, { upsert: true });
  }

  private get reviews(): mongo.Collection<Review> {
    return this.connection.collection<Review>(REVIEWS);
  }
}
