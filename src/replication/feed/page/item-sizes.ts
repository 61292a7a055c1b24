import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Selection } from '../query/index.js';

/** Bytes of BSON that one reply shall have, about: what a page holds in memory does not grow with its records. */
const REPLY_BYTES = 2 * 1024 * 1024;
const UNKNOWN_BYTES = 1024;
const REMEMBERED = 10_000;

/** How large the documents of an application were when they were last read; only the speed of a page depends on it. */
@Injectable()
export class ItemSizes {
  private readonly sizes = new LRUCache<string, number>({ max: REMEMBERED });

  learn(selection: Selection, bytes: number, count: number): void {
    if (count > 0) this.sizes.set(keyOf(selection), Math.ceil(bytes / count));
  }

  /** Bytes of one document, about; whole ones, so that room for a number of documents is room for that number. */
  bytesOfOne(selection: Selection): number {
    return this.sizes.get(keyOf(selection)) ?? UNKNOWN_BYTES;
  }

  /** How many documents make one reply. */
  ofOneReply(selection: Selection): number {
    return Math.max(1, Math.floor(REPLY_BYTES / this.bytesOfOne(selection)));
  }
}

function keyOf({ collection, scope }: Selection): string {
  return JSON.stringify([collection, scope]);
}
