import { mongo } from 'mongoose';
import type { Window } from '../query/index.js';
import type { ItemsText } from '../transcode/index.js';
import type { Share } from './page-bytes.js';
import type { PageReader, PageReading } from './page-reader.js';

/** A page whose `to` is known, while the rest is still being read. */
export interface OpenPage {
  /** The window that is used, and whether the page is its first one. */
  window: { from: Date | undefined; to: Date; isFirst: boolean };
  page: Promise<Page>;
  /** Headers that can be told of it already; nothing where none can yet. */
  early: () => Record<string, string> | undefined;
  /** Resolves when the database has shown that it is at work for the page. */
  heard: Promise<void>;
}

/** Bytes of items that are held back until the headers are known; a larger page is looked at ahead. */
const HELD_BYTES = 2 * 1024 * 1024;

const HEAD = '{"result":[';
const COMMA = Buffer.from(',');

/** A page as its headers tell of it, and its body, piece by piece: nothing behind a piece is read before it is taken. */
export interface Page {
  headers: Record<string, string>;
  /** Bytes of the body, where they are known. */
  length?: number;
  body: AsyncGenerator<Buffer, void>;
}

/** What a page is read of: one reading after the other, each in `_id` order; none where there can be no items. */
export interface PageSource {
  reader: PageReader;
  readings: PageReading[];
  /** The page begins in the first reading, behind the `lastoffsetid` of the window. */
  window: Window;
  share: Share;
}

/** Where an item stands: in which reading, and its `_id`, 24 hexadecimal digits. */
export interface ItemPlace {
  reading: number;
  last: string;
}

/** The beginning of a page: before it is read nothing can be said about the headers. */
export interface PageBeginning {
  items: PlacedItems[];
  count: number;
  bytes: number;
  end: ItemPlace | undefined;
  /** Whether nothing comes behind it. */
  isAll: boolean;
}

/** What is around the items of a page. */
export interface PageForm {
  headers: (beginning: PageBeginning) => Promise<Record<string, string>>;
  /** Behind the last item. A page that is full may go on. */
  tail: (end: ItemPlace | undefined, isFull: boolean) => string;
}

interface PlacedItems extends ItemsText {
  reading: number;
}

export async function pageOf(source: PageSource, form: PageForm): Promise<Page> {
  const { share, window } = source;
  const rest = itemsFrom(source, { reading: 0, window });
  const beginning = await beginningOf(rest, share, window.limit);
  const { isAll, bytes, count, end } = beginning;
  if (isAll) await rest.return();
  return {
    headers: await form.headers(beginning),
    body: envelope(source, form, { ...beginning, rest }),
    ...(isAll && { length: HEAD.length + bytes + Buffer.byteLength(form.tail(end, count === window.limit)) }),
  };
}

export function idOf(hex: string): mongo.ObjectId {
  return mongo.ObjectId.createFromHexString(hex);
}

/** The items from a place on, at most as many as the limit of its window. */
async function* itemsFrom(
  { reader, readings }: PageSource,
  place: { reading: number; window: Window },
): AsyncGenerator<PlacedItems, void> {
  let { window } = place;
  for (let reading = place.reading; reading < readings.length && window.limit > 0; reading += 1) {
    let { limit } = window;
    for await (const items of reader.items(readings[reading]!, window)) {
      limit -= items.count;
      yield { ...items, reading };
    }
    const { lastoffsetid: _reached, ...whole } = window;
    window = { ...whole, limit };
  }
}

async function beginningOf(
  rest: AsyncGenerator<PlacedItems, void>,
  share: Share,
  limit: number,
): Promise<PageBeginning> {
  const beginning: PageBeginning = { items: [], count: 0, bytes: 0, end: undefined, isAll: false };
  const isEnough = () => beginning.bytes >= HELD_BYTES || (beginning.count > 0 && share.isShort);
  while (!isEnough()) {
    const { value, done } = await rest.next();
    if (done === true) return { ...beginning, isAll: true };
    beginning.bytes += value.bytes + (beginning.count === 0 ? 0 : COMMA.length);
    beginning.count += value.count;
    beginning.end = value;
    beginning.items.push(value);
  }
  return { ...beginning, isAll: beginning.count === limit };
}

/** A page is read on where it was asked to let go of what it held, unless its length has been told already. */
async function* envelope(
  source: PageSource,
  form: PageForm,
  { items, rest, isAll }: PageBeginning & { rest: AsyncGenerator<PlacedItems, void> },
): AsyncGenerator<Buffer, void> {
  const { share } = source;
  let place = { reading: 0, window: source.window };
  let end: ItemPlace | undefined;
  yield Buffer.from(HEAD);
  for (let held: Held | undefined = new Held(items, rest); held !== undefined;) {
    const current: Held = held;
    if (!isAll) share.reclaimBy(() => current.drop(share));
    for await (const one of current.items()) {
      if (end !== undefined) yield COMMA;
      yield* one.pieces;
      share.letGo(one.held);
      share.items += one.count;
      end = one;
      const limit: number = place.window.limit - one.count;
      place = {
        reading: one.reading,
        window: { ...source.window, lastoffsetid: idOf(one.last), limit },
      };
    }
    const isMissing: boolean = current.isDropped && place.window.limit > 0;
    held = isMissing ? new Held([], itemsFrom(source, place)) : undefined;
  }
  share.goesOn = place.window.limit === 0;
  yield Buffer.from(form.tail(end, share.goesOn));
}

/** What a page holds of what it has not sent: items, then the rest; nothing that was given out is held any longer. */
class Held {
  isDropped = false;

  constructor(
    private readonly first: PlacedItems[],
    private readonly rest: AsyncGenerator<PlacedItems, void>,
  ) {}

  async *items(): AsyncGenerator<PlacedItems, void> {
    for (let one = this.first.shift(); one !== undefined; one = this.first.shift()) yield one;
    yield* this.rest;
  }

  /** While nothing is being read. */
  drop(share: Share): void {
    this.isDropped = true;
    for (const one of this.first.splice(0)) share.letGo(one.held);
    void this.rest.return();
  }
}
