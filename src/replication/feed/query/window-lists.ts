import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { Semaphore, within, type WithoutSlot } from '../../../platform/common/index.js';
import { isRetryable, isTimeout } from '../../../platform/database/index.js';
import { problems } from '../../../platform/http/index.js';
import { packedIds } from '../../transcode/index.js';
import { RawFind } from './raw-find.js';
import { IdList, type Selection } from './selection.js';
import { boundsOf, indexOf, longestList } from './window.js';

/** Bytes of all cached lists. A miss only costs time. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** Approximate bytes of an entry without its list. */
const ENTRY_BYTES = 1200;
const IDS_OF_A_REPLY = 50_000;
/** A window with more `_id`s is a large one. Its first reply, with these, takes about 400 KB. */
const IDS_OF_SMALL = 10_000;
/**
 * How many large windows are listed at a time. Each takes up to 36 MB meanwhile: its replies, and two lists to sort them.
 */
const MOST_LARGE = 2;
/** How long the listing of a large window waits for its turn (milliseconds). */
const PATIENCE_MS = 30_000;
const COUNTED_FOR_MS = 60_000;
/** Time limit of a count, for which all pages of a collection wait (milliseconds). */
const COUNT_MS = 2000;

/** The documents to list: everything in scope in a window, regardless of a service's filter. */
interface Listing {
  selection: Pick<Selection, 'collection' | 'scope'>;
  from: Date;
  to: Date;
  at: mongo.Timestamp;
}

/** The slot in which a page reads. */
export interface ReadSlot {
  without: WithoutSlot;
  /** Runs work in another slot, which no single credential takes. If `late` is aborted while it waits for one, throws its reason. */
  another: <T>(late: AbortSignal, work: () => Promise<T>) => Promise<T>;
}

/** A list that is being read. */
interface ListReading extends Listing {
  slot: ReadSlot;
  /** Resolves if the window is a large one: its pages need no slot until it is listed. */
  isLarge: Promise<true>;
  becomesLarge: () => void;
}

/** The list of a window's `_id`s; absent if the window is too large to list, or listing takes too long. */
interface Listed {
  ids?: IdList;
}

/** The `_id`s of windows as of their moments. They never change, and are cached as long as there is room. */
@Injectable()
export class WindowLists {
  private readonly lists = new LRUCache<string, Listed, ListReading>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ ids }) => ENTRY_BYTES + (ids?.bytes ?? 0),
    fetchMethod: (key, _stale, { context }) => {
      this.readings.set(key, context);
      return this.read(context)
        .catch(unlistedIfSlow)
        .finally(() => {
          if (this.readings.get(key) === context) this.readings.delete(key);
        });
    },
    /** A list that is evicted while it is being read is still returned to its callers. */
    ignoreFetchAbort: true,
  });

  private readonly readings = new Map<string, ListReading>();

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

  patienceMs = PATIENCE_MS;
  private readonly large = new Semaphore(MOST_LARGE);

  constructor(private readonly finds: RawFind) {}

  /**
   * The list of a window as of a moment; undefined if it is too large, or takes longer than QUERY_MS. Throws 503 `busy` if
   * too many large windows are to be listed before it. Meanwhile the caller has no slot, so that the pages of large windows
   * do not keep others from being read. Retries once, because the driver does not retry `getMore`.
   */
  list(listing: Listing, slot: ReadSlot): Promise<IdList | undefined> {
    return this.once(listing, slot).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      return this.once(listing, slot);
    });
  }

  private async once(listing: Listing, slot: ReadSlot): Promise<IdList | undefined> {
    const key = keyOf(listing);
    let becomesLarge = () => {};
    const isLarge = new Promise<true>((resolve) => (becomesLarge = () => resolve(true)));
    const listed = this.lists.fetch(key, { context: { ...listing, slot, isLarge, becomesLarge } });
    const reading = this.readings.get(key);
    const first = await Promise.race([listed, reading?.isLarge ?? listed]);
    const { ids } = (first === true ? await slot.without(() => listed) : first) ?? {};
    return ids;
  }

  /** The approximate number of documents; 0 if it is not known in time, and then no window is listed. */
  private async howMany(collection: string): Promise<number> {
    return (await this.counts.fetch(collection).catch(() => undefined)) ?? 0;
  }

  private async read(reading: ListReading): Promise<Listed> {
    const { selection, from, to, at } = reading;
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
      firstBatch: Math.min(IDS_OF_SMALL, longest + 1),
    };
    const replies = this.finds.all(find, at);
    try {
      const parts: Uint8Array[] = [];
      const isLarge = await partOf(replies, parts);
      const list = () => listOf(replies, parts, longest);
      return await (isLarge ? this.inTurn(reading, list) : list());
    } finally {
      await replies.return();
    }
  }

  /**
   * Waits while too many large windows are listed. A free place goes to the application with the fewest ones. The list is
   * read in a slot of its own, because the page that asked first may be gone before the others, and its credential may have
   * as many slots as it may take.
   */
  private inTurn<T>(
    { selection: { scope }, slot, becomesLarge }: ListReading,
    list: () => Promise<T>,
  ): Promise<T> {
    becomesLarge();
    const late = AbortSignal.timeout(this.patienceMs);
    const owner = JSON.stringify([scope['organizationid'], scope['appid']]);
    return this.large
      .during(late, () => slot.another(late, list), owner)
      .catch((error: unknown) => {
        throw error === late.reason ? problems.busy() : error;
      });
  }
}

type Replies = ReturnType<RawFind['all']>;

/** Adds the `_id`s of the next reply. Returns whether there are more of them than those of a small window. */
async function partOf(replies: Replies, parts: Uint8Array[]): Promise<boolean> {
  const { value } = await replies.next();
  if (value === undefined) return false;
  const part = packedIds(value.documents);
  parts.push(part);
  return value.cursorId !== 0n || IdList.countOf(part) > IDS_OF_SMALL;
}

/** The list of the given `_id`s and the rest; empty if there are more than `longest`. */
async function listOf(replies: Replies, parts: Uint8Array[], longest: number): Promise<Listed> {
  for await (const { documents } of replies) parts.push(packedIds(documents));
  const packed = Buffer.concat(parts);
  parts.length = 0;
  if (IdList.countOf(packed) > longest) return {};
  return { ids: await IdList.sort(packed) };
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
