import { mongo } from 'mongoose';
import type { Window } from '../query/window.js';
import type { ItemsText } from '../../transcode/index.js';
import type { Share } from './page-bytes.js';
import type { PageReader, PageReading } from './page-reader.js';

/** Bytes of items that are held back until the headers are known; a larger page is looked at ahead. */
const HELD_BYTES = 2 * 1024 * 1024;

/** A comma, or a line break, stands between items. */
const SEPARATOR_BYTES = 1;

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

export interface PlacedItems extends ItemsText {
  reading: number;
}

/** Where a page is read on. */
interface ReadingPlace {
  reading: number;
  window: Window;
}

/** The beginning of a page, where it began, and the rest of it that is still to be read. */
export interface BegunItems extends Pick<PageBeginning, 'items' | 'isAll'> {
  place: ReadingPlace;
  rest: AsyncGenerator<PlacedItems, void>;
}

export function idOf(hex: string): mongo.ObjectId {
  return mongo.ObjectId.createFromHexString(hex);
}

/** The place behind an item, for so many more. */
export function placeBehind(
  { window }: PageSource,
  { reading, last }: ItemPlace,
  limit: number,
): ReadingPlace {
  return { reading, window: { ...window, lastoffsetid: idOf(last), limit } };
}

/** The items from a place on, at most as many as the limit of its window. */
export async function* itemsFrom(
  { reader, readings }: PageSource,
  place: ReadingPlace,
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

/** Reads what can be held of the items that come first. */
export async function begin(source: PageSource): Promise<PageBeginning & BegunItems> {
  const place = { reading: 0, window: source.window };
  const rest = itemsFrom(source, place);
  const beginning = await beginningOf(rest, source.share, source.window.limit);
  if (beginning.isAll) await rest.return();
  return { ...beginning, place, rest };
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
    beginning.bytes += value.bytes + (beginning.count === 0 ? 0 : SEPARATOR_BYTES);
    beginning.count += value.count;
    beginning.end = value;
    beginning.items.push(value);
  }
  return { ...beginning, isAll: beginning.count === limit };
}

/**
 * The items of a page, each to be sent before the next is asked for. The page is read on where it was asked to let go of
 * what it held, unless its length has been told already.
 */
export async function* takenItems(
  source: PageSource,
  { items, rest, isAll, ...begun }: BegunItems,
): AsyncGenerator<PlacedItems, void> {
  const { share } = source;
  let { place } = begun;
  for (let held: Held | undefined = new Held(items, rest); held !== undefined;) {
    const current: Held = held;
    if (!isAll) share.reclaimBy(() => current.drop(share));
    for await (const one of current.items()) {
      yield one;
      share.letGo(one.held);
      share.items += one.count;
      place = placeBehind(source, one, place.window.limit - one.count);
    }
    const isMissing: boolean = current.isDropped && place.window.limit > 0;
    held = isMissing ? new Held([], itemsFrom(source, place)) : undefined;
  }
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

/** A page whose `to` is known, while the rest is still being read. */
export interface OpenPage {
  /** The window that is used, and whether the page is its first one. */
  window: { from: Date | undefined; to: Date; isFirst: boolean };
  page: Promise<Page>;
  /** The media type, where the client chooses it (`Accept`); else `application/json`. */
  chosenType?: string;
  /** Headers that can be told of it already; nothing where none can yet. */
  early: () => Record<string, string> | undefined;
  /** Resolves when the database has shown that it is at work for the page. */
  heard: Promise<void>;
}

const HEAD = '{"result":[';
const COMMA = Buffer.from(',');

/** A page as its headers tell of it, and its body, piece by piece: nothing behind a piece is read before it is taken. */
export interface Page {
  headers: Record<string, string>;
  /** Bytes of the body, where they are known. */
  length?: number;
  body: AsyncGenerator<Buffer, void>;
}

/** What is around the items of a page. */
export interface PageForm {
  headers: (beginning: PageBeginning) => Promise<Record<string, string>>;
  /** Behind the last item. A page that is full may go on. */
  tail: (end: ItemPlace | undefined, isFull: boolean) => string;
}

/** A page in one JSON value. */
export async function pageOf(source: PageSource, form: PageForm): Promise<Page> {
  const beginning = await begin(source);
  const { isAll, bytes, count, end } = beginning;
  const isFull = count === source.window.limit;
  return {
    headers: await form.headers(beginning),
    body: envelope(source, form, beginning),
    ...(isAll && { length: HEAD.length + bytes + Buffer.byteLength(form.tail(end, isFull)) }),
  };
}

async function* envelope(
  source: PageSource,
  form: PageForm,
  begun: BegunItems,
): AsyncGenerator<Buffer, void> {
  const { share, window } = source;
  let end: ItemPlace | undefined;
  let count = 0;
  yield Buffer.from(HEAD);
  for await (const one of takenItems(source, begun)) {
    if (end !== undefined) yield COMMA;
    yield* one.pieces;
    end = one;
    count += one.count;
  }
  const isFull = count === window.limit;
  yield Buffer.from(form.tail(end, isFull));
  share.goesOn = isFull;
}
