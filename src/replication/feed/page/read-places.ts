import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { Places } from '../../../common/index.js';

/** Shares of the connections to MongoDB: what is left over is for `max`, writes and everything else. */
const OF_PAGES = 3 / 4;
const OF_LARGE_PAGES = 1 / 2;

/** Large pages of one credential that are read at a time: more would not be read faster, and pages of others would wait. */
const LARGE_OF_CREDENTIAL = 4;

/** More items make a page a large one. */
const SMALL_LIMIT = 100;

/** For whom a page is read, and of how many items at most. */
export interface ReadFor {
  limit: number;
  /** The user name of the credential. */
  owner: string;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/**
 * Who may ask the database for a page now. A query may take as long as QUERY_MS allows, and holds a connection meanwhile:
 * however many pages are slow, some connections are left for small pages, and some for what is no page. A place that is free
 * goes to the credential that has the fewest.
 */
@Injectable()
export class ReadPlaces {
  private pages: Places | undefined;
  private large: Places | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Reads when it may. Throws what `gone` was aborted with. */
  read<T>({ limit, owner, gone }: ReadFor, read: () => Promise<T>): Promise<T> {
    this.pages ??= new Places(this.share(OF_PAGES));
    this.large ??= new Places(this.share(OF_LARGE_PAGES), LARGE_OF_CREDENTIAL);
    const { pages, large } = this;
    if (limit <= SMALL_LIMIT) return pages.during(gone, read, owner);
    return large.during(gone, () => pages.during(gone, read, owner), owner);
  }

  /** A pool of 0 has no end. */
  private share(part: number): number {
    const { maxPoolSize } = this.connection.getClient().options;
    return maxPoolSize === 0 ? Infinity : Math.max(1, Math.floor(maxPoolSize * part));
  }
}
