import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { Semaphore, type WithoutSlot } from '../../../platform/common/index.js';
import type { ReadSlot } from '../query/window-lists.js';

/**
 * Shares of all connections to MongoDB: for pages, and within that for large pages. The last quarter is for `max`,
 * writes and everything else.
 */
const OF_PAGES = 3 / 4;
const OF_LARGE_PAGES = 1 / 2;

/**
 * How many large pages of one credential are read concurrently. More would not be faster, and would delay other pages.
 */
const LARGE_OF_CREDENTIAL = 4;

/** Represents all credentials that wait for the same read. It has its own share of the slots. */
const OF_ALL = '';

/** A page with more items is a large one. */
const SMALL_LIMIT = 100;

/** The reader of a page, and the maximum number of its items. */
export interface ReadFor {
  limit: number;
  /** The user name of the credential. */
  owner: string;
  /** Aborted when the client disconnects. */
  gone: AbortSignal;
}

/**
 * Limits the concurrent queries for pages. A query may take as long as QUERY_MS allows, and holds a connection meanwhile.
 * However many pages are slow, some connections stay free for small pages, and some for all other requests. A free slot
 * goes to the waiting credential that holds the fewest slots.
 */
@Injectable()
export class ReadSlots {
  private pages: Semaphore | undefined;
  private large: Semaphore | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Reads once a slot is free. Throws the abort reason of `gone`. */
  read<T>(reader: ReadFor, read: (slot: ReadSlot) => Promise<T>): Promise<T> {
    this.pages ??= new Semaphore(this.slotsOf(OF_PAGES));
    this.large ??= new Semaphore(this.slotsOf(OF_LARGE_PAGES), LARGE_OF_CREDENTIAL);
    const { pages, large } = this;
    const { limit, owner, gone } = reader;
    const another: ReadSlot['another'] = (late, work) =>
      this.read({ limit, owner: OF_ALL, gone: late }, work);
    const inPages = (withoutLarge: WithoutSlot) =>
      pages.during(
        gone,
        // The slot of a large page is taken again first, as at the beginning: in another order, pages could wait for each other.
        (without) => read({ without: (wait) => without(() => withoutLarge(wait)), another }),
        owner,
      );
    return limit <= SMALL_LIMIT ? inPages((wait) => wait()) : large.during(gone, inPages, owner);
  }

  /** A pool size of 0 means unlimited. */
  private slotsOf(part: number): number {
    const { maxPoolSize } = this.connection.getClient().options;
    return maxPoolSize === 0 ? Infinity : Math.max(1, Math.floor(maxPoolSize * part));
  }
}
