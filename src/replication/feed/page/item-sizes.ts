import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

/** Bytes of BSON that one reply shall have, about: what a page holds in memory does not grow with its records. */
const REPLY_BYTES = 2 * 1024 * 1024;
const UNKNOWN_BYTES = 1024;
/** Characters of the names of all feeds that are remembered. */
const REMEMBERED = 1024 * 1024;

/**
 * How large the documents of a feed were when they were last read. A feed is known by any name that no other one has. An
 * estimate: where memory is short, pages of small documents do not wait behind those of large ones.
 */
@Injectable()
export class ItemSizes {
  private readonly sizes = new LRUCache<string, number>({
    maxSize: REMEMBERED,
    sizeCalculation: (_bytes, feed) => feed.length,
  });

  learn(feed: string, bytes: number, count: number): void {
    if (count > 0) this.sizes.set(feed, Math.ceil(bytes / count));
  }

  /** Bytes of one document, about; whole ones, so that room for a number of documents is room for that number. */
  bytesOfOne(feed: string): number {
    return this.sizes.get(feed) ?? UNKNOWN_BYTES;
  }

  /** How many documents make one reply. */
  ofOneReply(feed: string): number {
    return Math.max(1, Math.floor(REPLY_BYTES / this.bytesOfOne(feed)));
  }
}
