import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { Places } from '../../../common/index.js';

/** Shares of the connections to MongoDB: what is left over is for `max`, writes and everything else. */
const OF_PAGES = 3 / 4;
const OF_LARGE_PAGES = 1 / 2;

/** More items make a page a large one. */
const SMALL_LIMIT = 100;

/**
 * Who may ask the database for a page now. A query may take as long as QUERY_MS allows, and holds a connection meanwhile:
 * however many pages are slow, some connections are left for small pages, and some for what is no page.
 */
@Injectable()
export class ReadPlaces {
  private pages: Places | undefined;
  private large: Places | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Reads for a page of so many items at most, when it may. Throws what `gone` was aborted with. */
  read<T>(limit: number, gone: AbortSignal, read: () => Promise<T>): Promise<T> {
    this.pages ??= this.share(OF_PAGES);
    this.large ??= this.share(OF_LARGE_PAGES);
    const { pages, large } = this;
    if (limit <= SMALL_LIMIT) return pages.during(gone, read);
    return large.during(gone, () => pages.during(gone, read));
  }

  /** A pool of 0 has no end. */
  private share(part: number): Places {
    const { maxPoolSize } = this.connection.getClient().options;
    return new Places(maxPoolSize === 0 ? Infinity : Math.max(1, Math.floor(maxPoolSize * part)));
  }
}
