import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { type CurrentSchema, newestDatas } from '../../schema/index.js';
import { tallyOf } from '../../transcode/index.js';
import { feedName, updatesOf } from './feed.js';
import { ItemSizes, PageBytes, type ReadFor, ReadSlots } from './page-bytes.js';

/** How many of the newest records are read. */
const NEWEST = 20;
/** A reply and what is made of it together take about this multiple of the reply. */
const WITH_ITEMS = 2;

/** Reads the newest records of a service, with a slot and the memory of a small page. */
@Injectable()
export class NewestDatas {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly bytes: PageBytes,
    private readonly slots: ReadSlots,
    private readonly sizes: ItemSizes,
  ) {}

  /** The `data` of the newest items. Throws the abort reason of `gone`. */
  async read({ served }: CurrentSchema, { owner, gone }: Omit<ReadFor, 'limit'>): Promise<unknown[]> {
    const { key } = served;
    const feed = feedName(key, updatesOf(key.kind, key.name));
    const budget = this.bytes.open(gone, owner);
    try {
      const least = WITH_ITEMS * this.sizes.bytesOfOne(feed);
      const room = await budget.room({ least, wanted: least * NEWEST });
      const together = Math.min(NEWEST, Math.max(1, Math.floor(room / least)));
      const noted = (documents: Uint8Array) => {
        budget.hold(WITH_ITEMS * documents.length);
        this.sizes.learn(feed, documents.length, tallyOf(documents).count);
      };
      return await this.slots.read({ limit: NEWEST, owner, gone }, () =>
        newestDatas(this.connection.db!, served, NEWEST, { together, noted }),
      );
    } finally {
      budget.close();
    }
  }
}
