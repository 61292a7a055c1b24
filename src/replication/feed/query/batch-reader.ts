import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { tallyOf } from '../../transcode/index.js';
import type { IdList, Selection } from './selection.js';
import {
  indexOf,
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
import { type ReadSlot, WindowLists } from './window-lists.js';

/** The content of one reply: as much of a window as `replyLimit` and `breadth` allow, as of a moment. */
export interface BatchQuery {
  selection: Selection;
  window: Window;
  /** The maximum number of documents of the reply. `window.limit` is the limit of the page. */
  replyLimit: number;
  breadth: Breadth;
  at: mongo.Timestamp;
  /** The slot in which the reply is read. */
  slot: ReadSlot;
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
    const { selection, window, at, slot } = step;
    const { from, to } = window;
    const list = from && (await this.lists.list({ selection, from, to, at }, slot));
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
