import { mongo } from 'mongoose';
import type { Window } from '../query/window.js';
import type { ItemsText } from '../../transcode/index.js';
import type { PageBudget } from './page-bytes.js';
import type { PageReader, PageReading } from './page-reader.js';

/** How many bytes of items a page holds until its headers are known. For a larger page, `_id`s are read in advance. */
const HELD_BYTES = 2 * 1024 * 1024;

/** A comma or a line break separates items. */
const SEPARATOR_BYTES = 1;

/** The source of a page: readings in sequence, each in `_id` order; empty if there can be no items. */
export interface PageSource {
  reader: PageReader;
  readings: PageReading[];
  /** The page begins in the first reading, after the `lastoffsetid` of the window. */
  window: Window;
  budget: PageBudget;
}

/** The position of an item: its reading, and its `_id` as 24 hexadecimal digits. */
export interface ItemPlace {
  reading: number;
  last: string;
}

/** The beginning of a page. The headers are not known before it is read. */
export interface PageBeginning {
  items: PlacedItems[];
  count: number;
  bytes: number;
  end: ItemPlace | undefined;
  /** Whether the page has no further items. */
  isAll: boolean;
}

export interface PlacedItems extends ItemsText {
  reading: number;
}

/** The place at which the reading of a page continues. */
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

/** The place after an item, with a limit for the further items. */
export function placeAfter(
  { window }: PageSource,
  { reading, last }: ItemPlace,
  limit: number,
): ReadingPlace {
  return { reading, window: { ...window, lastoffsetid: idOf(last), limit } };
}

/** The items from a place on, up to the limit of its window. */
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

/** Reads the first items of a page, as far as they can be held. */
export async function begin(source: PageSource): Promise<PageBeginning & BegunItems> {
  const place = { reading: 0, window: source.window };
  const rest = itemsFrom(source, place);
  const beginning = await beginningOf(rest, source.budget, source.window.limit);
  if (beginning.isAll) await rest.return();
  return { ...beginning, place, rest };
}

async function beginningOf(
  rest: AsyncGenerator<PlacedItems, void>,
  budget: PageBudget,
  limit: number,
): Promise<PageBeginning> {
  const beginning: PageBeginning = { items: [], count: 0, bytes: 0, end: undefined, isAll: false };
  const isEnough = () => beginning.bytes >= HELD_BYTES || (beginning.count > 0 && budget.isShort);
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
 * The items of a page. Each must be sent before the next is requested. A page that had to release its unsent items reads
 * them again. A page whose length is already announced keeps its items.
 */
export async function* takenItems(
  source: PageSource,
  { items, rest, isAll, ...begun }: BegunItems,
): AsyncGenerator<PlacedItems, void> {
  const { budget } = source;
  let { place } = begun;
  for (let held: Held | undefined = new Held(items, rest); held !== undefined;) {
    const current: Held = held;
    if (!isAll) budget.reclaimBy(() => current.drop(budget));
    for await (const one of current.items()) {
      yield one;
      budget.letGo(one.held);
      budget.items += one.count;
      place = placeAfter(source, one, place.window.limit - one.count);
    }
    const isMissing: boolean = current.isDropped && place.window.limit > 0;
    held = isMissing ? new Held([], itemsFrom(source, place)) : undefined;
  }
}

/** The unsent items that a page holds, and the rest that is still to be read. Items that were yielded are no longer held. */
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

  /** Releases the unsent items. Call it only while no item is being read. */
  drop(budget: PageBudget): void {
    this.isDropped = true;
    for (const one of this.first.splice(0)) budget.letGo(one.held);
    void this.rest.return();
  }
}

/** A page whose `to` is known, while the rest is still being read. */
export interface OpenPage {
  /** The effective window, and whether the page is its first one. */
  window: { from: Date | undefined; to: Date; isFirst: boolean };
  page: Promise<Page>;
  /** The media type, if the client chooses it (`Accept`); otherwise `application/json`. */
  chosenType?: string;
  /** Headers that can be sent before the page is read; undefined as long as they are unknown. */
  early: () => Record<string, string> | undefined;
  /** Resolves when the database has shown that it responds. */
  heard: Promise<void>;
}

const HEAD = '{"result":[';
const COMMA = Buffer.from(',');

/** A page: its headers, and its body piece by piece. No further data is read before a piece is taken. */
export interface Page {
  headers: Record<string, string>;
  /** Bytes of the body, if known. */
  length?: number;
  body: AsyncGenerator<Buffer, void>;
}

/** The envelope around the items of a page. */
export interface PageForm {
  headers: (beginning: PageBeginning) => Promise<Record<string, string>>;
  /** The text after the last item. A full page may have a next page. */
  tail: (end: ItemPlace | undefined, isFull: boolean) => string;
}

/** A page as one JSON value. */
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
  const { budget, window } = source;
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
  budget.goesOn = isFull;
}
