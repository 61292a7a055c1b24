import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { within } from '../../../platform/common/index.js';
import { isRetryable, isTimeout } from '../../../platform/database/index.js';
import { packedIds } from '../../transcode/index.js';
import { IdList, type Selection } from './selection.js';
import { indexOf, longestList, boundsOf } from './window.js';
import { RawFind } from './raw-find.js';

/** Bytes of all cached lists. A miss only costs time. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** Approximate bytes of an entry without its list. */
const ENTRY_BYTES = 1200;
const IDS_OF_A_REPLY = 50_000;
const COUNTED_FOR_MS = 60_000;
/** All pages of a collection wait for the same count. */
const COUNT_MS = 2000;

/** The documents to list: everything in scope in a window, regardless of a service's filter. */
interface Listing {
  selection: Pick<Selection, 'collection' | 'scope'>;
  from: Date;
  to: Date;
  at: mongo.Timestamp;
}

/** The list of a window's `_id`s; absent if the window is too large to list, or listing takes too long. */
interface Listed {
  ids?: IdList;
}

/** The `_id`s of windows as of their moments. They never change, and are cached as long as there is room. */
@Injectable()
export class WindowLists {
  private readonly lists = new LRUCache<string, Listed, Listing>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ ids }) => ENTRY_BYTES + (ids?.bytes ?? 0),
    fetchMethod: (_key, _stale, { context }) => this.readOnceMore(context).catch(unlistedIfSlow),
    /** A list that is evicted while it is being read is still returned to its callers. */
    ignoreFetchAbort: true,
  });

  /** The approximate number of documents of a collection. It determines how a page is read, never what it shows. */
  private readonly counts = new LRUCache<string, number>({
    max: 10,
    ttl: COUNTED_FOR_MS,
    fetchMethod: (collection, known) =>
      within(COUNT_MS, 'A count', this.finds.aboutHowMany(collection)).catch((error: unknown) => {
        if (known === undefined) throw error;
        return known;
      }),
  });

  constructor(private readonly finds: RawFind) {}

  /** The list of a window as of a moment; undefined if it is too large, or takes longer than QUERY_MS. */
  async list(listing: Listing): Promise<IdList | undefined> {
    const listed = await this.lists.fetch(keyOf(listing), { context: listing });
    return listed?.ids;
  }

  /** Retries once, because the driver does not retry `getMore`. */
  private readOnceMore(listing: Listing): Promise<Listed> {
    return this.read(listing).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      return this.read(listing);
    });
  }

  /** The approximate number of documents; 0 if it is not known in time, and then no window is listed. */
  private async howMany(collection: string): Promise<number> {
    return (await this.counts.fetch(collection).catch(() => undefined)) ?? 0;
  }

  private async read({ selection, from, to, at }: Listing): Promise<Listed> {
    const longest = longestList(await this.howMany(selection.collection));
    const { collection } = selection;
    const find = {
      collection,
      filter: {},
      ...boundsOf(selection, from, to),
      projection: { _id: 1 },
      along: indexOf('one-page', selection),
      limit: longest + 1,
      batchSize: Math.min(IDS_OF_A_REPLY, longest + 1),
    };
    const parts: Uint8Array[] = [];
    for await (const { documents } of this.finds.all(find, at)) parts.push(packedIds(documents));
    const packed = Buffer.concat(parts);
    if (IdList.countOf(packed) > longest) return {};
    const ids = await IdList.sort(packed);
    return { ids };
  }
}

/** A timeout leaves the window unlisted: a walk along `_id` can be split into small steps, a list cannot. */
function unlistedIfSlow(error: unknown): Listed {
  if (!isTimeout(error)) throw error;
  return {};
}

/** Everything that determines the list. */
function keyOf({ selection: { collection, scope }, from, to, at }: Listing): string {
  return JSON.stringify([collection, scope, from, to, String(at.toBigInt())]);
}
