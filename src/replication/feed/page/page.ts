import { mongo } from 'mongoose';
import type { Window } from '../query/index.js';
import type { ItemsText } from '../transcode/index.js';
import { linkTo } from './link.js';
import type { Share } from './page-bytes.js';
import type { PageReader, PageReading } from './page-reader.js';
import type { PageRequest } from './page-request.js';

/** A page whose `to` is known, while the rest is still being read. */
export interface OpenPage {
  to: Date;
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

/** The beginning of a page: before it is read nothing can be said about the headers. */
interface Beginning {
  items: ItemsText[];
  count: number;
  bytes: number;
  last: string | undefined;
  /** Whether nothing comes behind it. */
  isAll: boolean;
}

/**
 * The envelope of contract §1: `nextoffsetid` is the `_id` of the last item, `""` on an empty page. Behind it stands a line
 * break, so that a shell's next prompt stands on a line of its own. A full page links to the next one. No reading where there can be no items.
 */
export async function pageOf(
  reader: PageReader,
  reading: PageReading | undefined,
  { path, window }: PageRequest,
): Promise<Page> {
  const rest = reading && reader.items(reading, window);
  const beginning = await beginningOf(rest, reading?.share, window.limit);
  const { isAll, bytes, count, last } = beginning;
  if (isAll) await rest?.return();
  const end =
    count === window.limit ? last : isAll ? undefined : await lastBehind(reader, reading!, window, beginning);
  return {
    headers: end === undefined ? {} : linkTo(path, window, { lastoffsetid: idOf(end) }),
    body:
      reading === undefined ? nothing() : envelope(reader, reading, window, { ...beginning, rest: rest! }),
    ...(isAll && { length: HEAD.length + bytes + tail(last).length }),
  };
}

async function beginningOf(
  rest: AsyncGenerator<ItemsText, void> | undefined,
  share: Share | undefined,
  limit: number,
): Promise<Beginning> {
  const beginning: Beginning = { items: [], count: 0, bytes: 0, last: undefined, isAll: rest === undefined };
  const isEnough = () => beginning.bytes >= HELD_BYTES || (beginning.count > 0 && share?.isShort);
  while (rest !== undefined && !isEnough()) {
    const { value, done } = await rest.next();
    if (done === true) return { ...beginning, isAll: true };
    beginning.bytes += value.bytes + (beginning.count === 0 ? 0 : COMMA.length);
    beginning.count += value.count;
    beginning.last = value.last;
    beginning.items.push(value);
  }
  return { ...beginning, isAll: beginning.isAll || beginning.count === limit };
}

/** The last item of a page that is too large to be held, where it is full: `_id`s are read ahead of their documents. */
async function lastBehind(
  reader: PageReader,
  reading: PageReading,
  window: Window,
  { count, last }: Beginning,
): Promise<string | undefined> {
  const end = await reader.last(reading, {
    ...window,
    limit: window.limit - count,
    lastoffsetid: idOf(last!),
  });
  return end?.toHexString();
}

/** A page is read on where it was asked to let go of what it held, unless its length has been told already. */
async function* envelope(
  reader: PageReader,
  reading: PageReading,
  window: Window,
  { items, rest, isAll }: Beginning & { rest: AsyncGenerator<ItemsText, void> },
): AsyncGenerator<Buffer, void> {
  const { share } = reading;
  let place = window;
  let last: string | undefined;
  yield Buffer.from(HEAD);
  for (let held: Held | undefined = new Held(items, rest); held !== undefined;) {
    const current: Held = held;
    if (!isAll) share.reclaimBy(() => current.drop(share));
    for await (const one of current.items()) {
      if (last !== undefined) yield COMMA;
      yield* one.pieces;
      share.letGo(one.held);
      share.items += one.count;
      last = one.last;
      place = { ...place, lastoffsetid: idOf(last), limit: place.limit - one.count };
    }
    const isMissing: boolean = current.isDropped && place.limit > 0;
    held = isMissing ? new Held([], reader.items(reading, place)) : undefined;
  }
  yield Buffer.from(tail(last));
}

/** What a page holds of what it has not sent: items, then the rest; nothing that was given out is held any longer. */
class Held {
  isDropped = false;

  constructor(
    private readonly first: ItemsText[],
    private readonly rest: AsyncGenerator<ItemsText, void>,
  ) {}

  async *items(): AsyncGenerator<ItemsText, void> {
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

async function* nothing(): AsyncGenerator<Buffer, void> {
  yield await Promise.resolve(Buffer.from(HEAD + tail(undefined)));
}

function idOf(hex: string): mongo.ObjectId {
  return mongo.ObjectId.createFromHexString(hex);
}

function tail(last: string | undefined): string {
  return `],"nextoffsetid":"${last ?? ''}"}\n`;
}
