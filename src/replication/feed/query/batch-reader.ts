import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { Metrics } from '../../../observability/index.js';
import { DELIVERABLE } from '../../../record/index.js';
import { tallyOf } from '../../transcode/index.js';
import {
  type Breadth,
  idsOf,
  indexOf,
  type Plan,
  planOf,
  type Narrowed,
  pageQuery,
  type Window,
  windowQuery,
  windowQueryAlongStamps,
} from './window.js';
import type { IdList, Selection } from './selection.js';
import { type BatchPart, NumericIdTexts, RawFind } from './raw-find.js';
import { TombstoneFilter } from './tombstone-filter.js';
import { WindowLists } from './window-lists.js';

/** What one reply is to hold: as much of a window as `replyLimit` and `breadth` allow, as of a moment. */
export interface BatchQuery {
  selection: Selection;
  window: Window;
  /** Documents of the reply at most; `window.limit` are those of the page. */
  replyLimit: number;
  breadth: Breadth;
  at: mongo.Timestamp;
  /** Whether nothing but the `_id`s is wanted, of what can be delivered; else items are looked at one by one. */
  idsOnly?: boolean;
  /** The fields that are wanted of each document, as a projection: `_id` first, and all that tells whether it is delivered. */
  fields?: mongo.Document;
}

/** One reply of the database. */
export interface ReadBatch {
  /** The raw array of documents, in `_id` order. */
  documents: Uint8Array;
  /** How many the database found; fewer may become items. */
  found: number;
  /** Up to where the window is looked through; nothing where that is its end. */
  reached: mongo.ObjectId | undefined;
}

/** An `id` that is a number: whether such a record is delivered, the ledger says. */
const NUMBER = { $cond: [{ $isNumber: '$id' }, '$id', '$$REMOVE'] };

const NOTHING: ReadBatch = { documents: new Uint8Array([5, 0, 0, 0, 0]), found: 0, reached: undefined };

/** Reads one reply after another, each by the plan that its window decides. */
@Injectable()
export class BatchReader {
  constructor(
    private readonly lists: WindowLists,
    private readonly finds: RawFind,
    private readonly living: TombstoneFilter,
    private readonly numbers: NumericIdTexts,
    private readonly metrics: Metrics,
  ) {}

  /** Throws what the database says, such as that it took longer than QUERY_MS. */
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

  /** Documents of a step, once it is seen that there are numbers among their ids: few have any, so none is looked for. */
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

  /** Where a step along `_id` ends that may look at so many entries only. */
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

/** How much may be sorted as one page. `_id`s alone never are: MongoDB would sort whole documents for them. */
function onePageOf({ replyLimit, breadth, idsOnly }: BatchQuery): number {
  return idsOnly === true ? 0 : Math.min(replyLimit, breadth.most ?? Infinity);
}

/** What a query is narrowed to, and where that ends. */
interface Narrowing {
  narrowed: Narrowed;
  end: mongo.ObjectId | undefined;
}
