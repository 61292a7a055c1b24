import { mongo } from 'mongoose';
import type { Window } from '../query/index.js';
import type { ItemsText } from '../transcode/index.js';
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
export interface ReadingPlace {
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
