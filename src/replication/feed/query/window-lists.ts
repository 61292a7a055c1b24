import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { within } from '../../../common/index.js';
import { isRetryable, isTimeout } from '../../../database/index.js';
import { packedIds } from '../../transcode/index.js';
import { IdList, type Selection } from './selection.js';
import { indexOf, longestList, boundsOf } from './window.js';
import { RawFind } from './raw-find.js';

/** Bytes of all lists that are kept; a miss only costs time. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** What an entry takes beside its list, about. */
const ENTRY_BYTES = 1200;
const IDS_OF_A_REPLY = 50_000;
const COUNTED_FOR_MS = 60_000;
/** All pages of a collection wait for the same count. */
const COUNT_MS = 2000;

/** What is listed: everything in scope that a window holds, whatever a service's filter says of it. */
interface Listing {
  selection: Pick<Selection, 'collection' | 'scope'>;
  from: Date;
  to: Date;
  at: mongo.Timestamp;
}

/** The list of a window's `_id`s; without one the window is too large to be listed, or takes too long. */
interface Listed {
  ids?: IdList;
}

/** The `_id`s of windows as of their moments: facts about the past, kept as long as there is room. */
@Injectable()
export class WindowLists {
  private readonly lists = new LRUCache<string, Listed, Listing>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ ids }) => ENTRY_BYTES + (ids?.bytes ?? 0),
    fetchMethod: (_key, _stale, { context }) => this.readOnceMore(context).catch(unlistedIfSlow),
    /** A list that finds no room while it is being read is still what its callers wait for. */
    ignoreFetchAbort: true,
  });

  /** About how many documents a collection has: how a page is read depends on it, never what it shows. */
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

  /** The list of a window as of a moment; nothing where it is too large, or takes longer than QUERY_MS. */
  async list(listing: Listing): Promise<IdList | undefined> {
    const listed = await this.lists.fetch(keyOf(listing), { context: listing });
    return listed?.ids;
  }

  /** The driver repeats no `getMore`. */
  private readOnceMore(listing: Listing): Promise<Listed> {
    return this.read(listing).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      return this.read(listing);
    });
  }

  /** None where it is not known in time: then nothing is listed. */
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

/** A walk along `_id` can be cut into small steps, and a list cannot. */
function unlistedIfSlow(error: unknown): Listed {
  if (!isTimeout(error)) throw error;
  return {};
}

/** Everything that shapes the list. */
function keyOf({ selection: { collection, scope }, from, to, at }: Listing): string {
  return JSON.stringify([collection, scope, from, to, String(at.toBigInt())]);
}
