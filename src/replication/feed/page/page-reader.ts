import type { mongo } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { isMomentGone, isTimeout } from '../../../platform/database/index.js';
import { problems } from '../../../platform/http/index.js';
import type { PageMoment, PageWish, Shown } from './page-moment.js';
import { ItemSizes, type PageBudget } from './page-bytes.js';
import type { ReadFor, ReadSlots } from './read-slots.js';
import { type BatchQuery, BatchReader, type ReadBatch } from '../query/batch-reader.js';
import { type Breadth, FIRST_BREADTH, narrower, relaxed, wider, type Window } from '../query/window.js';
import type { Selection } from '../query/selection.js';
import type { ReadSlot } from '../query/window-lists.js';
import { type ItemShape, type ItemsText, itemsText, tallyOf } from '../../transcode/index.js';

/** The reader of a view, and the requested content. */
interface Viewer extends ReadFor {
  wish: PageWish;
  /** Whether all reads must show the same moment. A sum over two moments is true of neither. */
  ofOneMoment?: boolean;
}

/** The part of a page's view that readings use. */
export type View = Pick<PageView, 'at' | 'asOf'>;

/** What a page shows: one moment, or its replacement if the server drops that moment while the page is read. */
export class PageView {
  /** Resolves when the first read has ended, even with an error. */
  readonly answered: Promise<void>;
  private resolveAnswered = () => {};
  private isBegun = false;

  constructor(
    private readonly moments: PageMoment,
    private readonly places: ReadSlots,
    private readonly viewer: Viewer,
    private shown: Shown,
  ) {
    this.answered = new Promise((resolve) => (this.resolveAnswered = resolve));
  }

  get at(): mongo.Timestamp {
    return this.shown.at;
  }

  /**
   * Reads as of the moment shown. Throws the abort reason of `gone`, and 503 `query-timeout` if all reads must show one
   * moment and the server dropped it after the first read. A moment that is dropped before the first read is replaced,
   * because a repeated request would find the same moment, and would never succeed.
   */
  async asOf<T>(read: (at: mongo.Timestamp, slot: ReadSlot) => Promise<T>): Promise<T> {
    this.viewer.gone.throwIfAborted();
    const inSlot = (slot: ReadSlot) => this.read((at) => read(at, slot));
    return this.places.read(this.viewer, inSlot).finally(this.resolveAnswered);
  }

  private async read<T>(read: (at: mongo.Timestamp) => Promise<T>): Promise<T> {
    const value = await read(this.at).catch(async (error: unknown) => {
      if (!isMomentGone(error)) throw error;
      if (this.isBegun && this.viewer.ofOneMoment === true) throw problems.queryTimeout();
      this.shown = await this.moments.insteadOf(this.shown, this.viewer.wish);
      return read(this.at);
    });
    this.isBegun = true;
    return value;
  }
}

/** A reply and its text together take about this multiple of the reply. */
const WITH_TEXT = 2;

const IDS_OF_A_REPLY = 50_000;

/** The source of a page, and the progress of its reading. */
export interface PageReading {
  /** The name by which {@link ItemSizes} knows the feed. */
  feed: string;
  selection: Selection;
  shape: ItemShape;
  /** The fields that the shape needs, as a projection. If absent, whole documents are read. */
  fields?: BatchQuery['fields'];
  /** The memory that the page may use. */
  budget: PageBudget;
  /** What the page shows. */
  view: View;
  /** The `_id` after which the next reply begins, and the number of items still to come. */
  place: ReadPlace;
}

/** How far a reading has come. */
export interface ReadPlace {
  lastoffsetid: mongo.ObjectId | undefined;
  items: number;
}

/** The rest of a page's window, and how much one step may examine. */
interface Position {
  window: Window;
  breadth: Breadth;
}

/** A reply, the maximum number of its documents, and the position at which it began. */
interface Taken extends ReadBatch, Position {
  replyLimit: number;
}

/** Reads pages reply by reply. It holds one reply at a time. */
@Injectable()
export class PageReader {
  constructor(
    private readonly batches: BatchReader,
    private readonly sizes: ItemSizes,
  ) {}

  /** The items of a window in `_id` order, at most its limit. */
  async *items(reading: PageReading, window: Window): AsyncGenerator<ItemsText, void> {
    const { feed, budget } = reading;
    let position: Position | undefined = { window, breadth: FIRST_BREADTH };
    while (position !== undefined) {
      reading.place = readPlaceOf(position);
      const batch: Taken = await this.readWithText(reading, position);
      this.sizes.learn(feed, batch.documents.length, batch.found);
      let count = 0;
      try {
        for await (const items of this.textOf(reading, batch.documents)) {
          count += items.count;
          budget.hold(items.held);
          yield items;
        }
      } finally {
        budget.letGo(batch.documents.length);
      }
      position = behind(batch, count);
    }
  }

  /**
   * The `_id` of the last item of a window; undefined if the window has fewer items than its limit. `more` is the number of
   * items to read after that one.
   */
  async last(reading: PageReading, window: Window, more = 0): Promise<mongo.ObjectId | undefined> {
    let position: Position | undefined = { window, breadth: FIRST_BREADTH };
    while (position !== undefined) {
      const { lastoffsetid, items } = readPlaceOf(position);
      reading.place = { lastoffsetid, items: items + more };
      const replyLimit = Math.min(position.window.limit, IDS_OF_A_REPLY);
      const batch: Taken = await this.readBatch(reading, position, { replyLimit, idsOnly: true });
      const { count, last } = tallyOf(batch.documents);
      if (count === position.window.limit) return last;
      position = behind(batch, count);
    }
    return undefined;
  }

  /** The items of a reply. If there are numeric ids, the ledger decides which of their records are delivered. */
  private async *textOf(
    { view, selection, shape, budget }: PageReading,
    documents: Uint8Array,
  ): AsyncGenerator<ItemsText, void> {
    const from = yield* itemsText(documents, shape);
    if (from === undefined) return;
    const texts = await view.asOf((at) => this.batches.asTexts({ documents, from }, selection, at));
    budget.hold(texts.length);
    try {
      yield* itemsText(texts, shape);
    } finally {
      budget.letGo(texts.length);
    }
  }

  /** Reads one reply, as large as the memory for it and its text allows. */
  private async readWithText(reading: PageReading, position: Position): Promise<Taken> {
    const { feed, budget } = reading;
    const { limit } = position.window;
    const least = WITH_TEXT * this.sizes.bytesOfOne(feed);
    const wanted = least * Math.min(limit, this.sizes.ofOneReply(feed));
    const room = await budget.room({ least, wanted });
    try {
      const replyLimit = Math.min(limit, Math.max(1, Math.floor(room / least)));
      const batch = await this.readBatch(reading, position, { replyLimit });
      budget.hold(batch.documents.length);
      return batch;
    } finally {
      budget.letGo(room);
    }
  }

  /** Reads one reply. On a timeout it tries again over a smaller range. */
  private async readBatch(
    { view, selection, fields }: PageReading,
    { window, breadth: first }: Position,
    asked: { replyLimit: number; idsOnly?: boolean },
  ): Promise<Taken> {
    const { replyLimit } = asked;
    for (let breadth: Breadth | undefined = first; ;) {
      const query = { selection, window, breadth, ...(fields && { fields }), ...asked };
      try {
        const batch = await view.asOf((at, slot) => this.batches.read({ ...query, at, slot }));
        return { ...batch, window, breadth, replyLimit };
      } catch (error) {
        breadth = isTimeout(error) ? narrower(breadth, replyLimit) : undefined;
        if (breadth === undefined) throw error;
      }
    }
  }
}

function readPlaceOf({ window: { lastoffsetid, limit } }: Position): ReadPlace {
  return { lastoffsetid, items: limit };
}

/** The position after a reply of `count` items; undefined if the page is full or the window has ended. */
function behind({ window, breadth, replyLimit, found, reached }: Taken, count: number): Position | undefined {
  const limit = window.limit - count;
  if (limit === 0 || reached === undefined) return undefined;
  const next = found < replyLimit ? wider(breadth, { asked: replyLimit, count: found }) : breadth;
  return { window: { ...window, limit, lastoffsetid: reached }, breadth: relaxed(next) };
}
