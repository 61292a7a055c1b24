import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Model } from 'mongoose';
import { atMost } from '../../common/index.js';
import type { KnownFences } from './fences.js';
import type { Heads, StoredHead } from './head.js';
import { HEAD_MODEL } from './head.schema.js';
import { markKey } from './mark.js';

const REMEMBERED = 100_000;

/**
 * Writes `tidemark.heads`: nobody else does. A head only grows, so one that a former leader writes late does no harm. One
 * that lies above the fence already tells all there is to tell, until the mark is raised past it.
 */
@Injectable()
export class HeadWriter {
  /** What this term has written. */
  private written = new LRUCache<string, Date>(atMost(REMEMBERED));

  constructor(@InjectModel(HEAD_MODEL) private readonly heads: Model<StoredHead>) {}

  /** What was written in another term may be gone, also what that writes late. */
  beginTerm(): void {
    this.written = new LRUCache(atMost(REMEMBERED));
  }

  /** To be called before the token that stands behind the changes is stored. */
  async write(heads: Heads, fences: KnownFences): Promise<void> {
    const { written } = this;
    const news = [...heads].filter(([name, { stamp }]) => {
      const [before, fence] = [written.get(name), fences.get(name)];
      return before === undefined || (stamp > before && (fence === undefined || before <= fence));
    });
    if (news.length === 0) return;
    const writes = news.map(([, { mark, stamp }]) => ({
      updateOne: { filter: { _id: markKey(mark) }, update: { $max: { stamp } }, upsert: true },
    }));
    await this.heads.collection.bulkWrite(writes, { ordered: false });
    for (const [name, { stamp }] of news) written.set(name, stamp);
  }
}
