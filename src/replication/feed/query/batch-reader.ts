import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { within } from '../../../platform/common/index.js';
import { isRetryable, isTimeout } from '../../../platform/database/index.js';
import { packedIds, tallyOf } from '../../transcode/index.js';
import { IdList, type Selection } from './selection.js';
import {
  indexOf,
  longestList,
  boundsOf,
  type Breadth,
  idsOf,
  type Plan,
  planOf,
  type Narrowed,
  pageQuery,
  type Window,
  windowQuery,
  windowQueryAlongStamps,
} from './window.js';
import { RawFind, type BatchPart, NumericIdTexts } from './raw-find.js';
import { Metrics } from '../../../platform/observability/index.js';
import { DELIVERABLE } from '../../../record/index.js';
import { TombstoneFilter } from './tombstone-filter.js';

/** Bytes of all cached lists. A miss only costs time. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** Approximate bytes of an entry without its list. */
const ENTRY_BYTES = 1200;
const IDS_OF_A_REPLY = 50_000;
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

/** The content of one reply: as much of a window as `replyLimit` and `breadth` allow, as of a moment. */
export interface BatchQuery {
  selection: Selection;
  window: Window;
  /** The maximum number of documents of the reply. `window.limit` is the limit of the page. */
  replyLimit: number;
  breadth: Breadth;
  at: mongo.Timestamp;
  /**
   * Whether only the `_id`s of deliverable documents are read. Otherwise, all documents are read, and those that cannot
   * be delivered are skipped when items are made of them.
   */
  idsOnly?: boolean;
  /**
   * The fields to read of each document, as a projection: `_id` first, and every field that decides whether it is delivered.
   */
  fields?: mongo.Document;
}

/** One reply of the database. */
export interface ReadBatch {
  /** The raw array of documents, in `_id` order. */
  documents: Uint8Array;
  /** The number of documents found. Fewer may become items. */
  found: number;
  /** The `_id` up to which the window has been examined; undefined at its end. */
  reached: mongo.ObjectId | undefined;
}

/** An `id` that is a number. The ledger decides whether its record is delivered. */
const NUMBER = { $cond: [{ $isNumber: '$id' }, '$id', '$$REMOVE'] };

const NOTHING: ReadBatch = { documents: new Uint8Array([5, 0, 0, 0, 0]), found: 0, reached: undefined };

/** Reads one reply after another, each by the plan of its window. */
@Injectable()
export class BatchReader {
  constructor(
    private readonly lists: WindowLists,
    private readonly finds: RawFind,
    private readonly living: TombstoneFilter,
    private readonly numbers: NumericIdTexts,
    private readonly metrics: Metrics,
  ) {}

  /** Throws the errors of the database, such as a query that exceeded QUERY_MS. */
  async read(step: BatchQuery): Promise<ReadBatch> {
    const { selection, window, at } = step;
    const { from, to } = window;
    const list = from && (await this.lists.list({ selection, from, to, at }));
    const plan = planOf(list?.length, onePageOf(step));
    this.metrics.feedSteps.inc({ plan });
    if (plan === 'id-list') return this.listed(step, list!);
    const end = plan === 'all' ? await this.endOf(step) : undefined;
    return this.find(step, plan, { narrowed: end && { $lte: end }, end });
  }

  /** The documents of a reply from a position on, with numeric ids as texts. See {@link NumericIdTexts.asTexts}. */
  asTexts(part: BatchPart, selection: Selection, at: mongo.Timestamp): Promise<Uint8Array> {
    return this.numbers.asTexts(part, selection, at);
  }

  private async listed(step: BatchQuery, list: IdList): Promise<ReadBatch> {
    const { window, replyLimit, breadth } = step;
    const ids = list.behind(window.lastoffsetid, idsOf(breadth, replyLimit));
    return ids.length === 0
      ? NOTHING
      : this.find(step, 'id-list', { narrowed: { $in: ids }, end: ids.at(-1) });
  }

  private async find(step: BatchQuery, plan: Plan, { narrowed, end }: Narrowing): Promise<ReadBatch> {
    const { selection, window, replyLimit, at, idsOnly, fields } = step;
    const along = plan === 'one-page' ? windowQueryAlongStamps(window) : windowQuery(window, narrowed);
    const { documents, cursorId } = await this.finds.first(
      {
        collection: selection.collection,
        filter:
          idsOnly === true
            ? { $and: [pageQuery(selection, along), DELIVERABLE] }
            : pageQuery(selection, along),
        along: indexOf(plan, selection),
        sort: { _id: 1 },
        limit: replyLimit,
        ...(fields && { projection: fields }),
        ...(idsOnly === true && { projection: { _id: 1, id: selection.records ? 1 : NUMBER } }),
      },
      at,
    );
    const { count: found, last } = tallyOf(documents);
    const isCut = cursorId !== 0n || found === replyLimit;
    return {
      documents:
        idsOnly === true && selection.kind !== undefined
          ? await this.asTexts({ documents, from: 0 }, selection, at)
          : await this.living.withoutLiving(documents, selection, at),
      found,
      reached: isCut ? last : end,
    };
  }

  /**
   * The last `_id` that a step along `_id` may examine; undefined if the step is unlimited or reaches the end of the index.
   */
  private async endOf({ selection, window, breadth, at }: BatchQuery): Promise<mongo.ObjectId | undefined> {
    if (breadth.most === undefined) return undefined;
    const behind = windowQuery(window)['_id'] as mongo.Document;
    const find = {
      collection: selection.collection,
      filter: { ...selection.scope, _id: behind },
      along: indexOf('all', selection),
      sort: { _id: 1 },
      projection: { _id: 1 },
      skip: breadth.most - 1,
      limit: 1,
    };
    const { documents } = await this.finds.first(find, at);
    return tallyOf(documents).last;
  }
}

/**
 * The maximum number of documents that may be sorted as one page. It is 0 if only `_id`s are read, because MongoDB
 * would sort whole documents even then.
 */
function onePageOf({ replyLimit, breadth, idsOnly }: BatchQuery): number {
  return idsOnly === true ? 0 : Math.min(replyLimit, breadth.most ?? Infinity);
}

/** The narrowed range of a query, and its end. */
interface Narrowing {
  narrowed: Narrowed;
  end: mongo.ObjectId | undefined;
}
