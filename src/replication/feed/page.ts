import { mongo } from 'mongoose';
import type { ItemsText } from './bytes/index.js';
import { itemsOf, lastOf, type Source } from './reading.js';
import type { Window } from './window.js';

const UNSAFE_IN_LINK = /[<>"]/g;

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
 * The envelope of contract §1: `nextoffsetid` is the `_id` of the last item, `""` on an empty page. A full page links to
 * the next one. No source where there can be no items.
 */
export async function pageOf(source: Source | undefined, window: Window, path: string): Promise<Page> {
  const rest = source && itemsOf(source, window);
  const beginning = await beginningOf(rest, window.limit);
  const { isAll, bytes, count, last } = beginning;
  const end =
    count === window.limit ? last : isAll ? undefined : await lastBehind(source!, window, beginning);
  return {
    headers: end === undefined ? {} : { Link: `<${nextUrl(path, window, end)}>; rel="next"` },
    body: envelope(beginning, rest),
    ...(isAll && { length: HEAD.length + bytes + tail(last).length }),
  };
}

async function beginningOf(
  rest: AsyncGenerator<ItemsText, void> | undefined,
  limit: number,
): Promise<Beginning> {
  const beginning: Beginning = { items: [], count: 0, bytes: 0, last: undefined, isAll: rest === undefined };
  while (rest !== undefined && beginning.bytes < HELD_BYTES) {
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
  source: Source,
  window: Window,
  { count, last }: Beginning,
): Promise<string | undefined> {
  const lastoffsetid = mongo.ObjectId.createFromHexString(last!);
  const end = await lastOf(source, { ...window, limit: window.limit - count, lastoffsetid });
  return end?.toHexString();
}

async function* envelope(
  { items }: Beginning,
  rest: AsyncGenerator<ItemsText, void> | undefined,
): AsyncGenerator<Buffer, void> {
  let last: string | undefined;
  yield Buffer.from(HEAD);
  for await (const one of following(items, rest)) {
    if (last !== undefined) yield COMMA;
    yield* one.pieces;
    last = one.last;
  }
  yield Buffer.from(tail(last));
}

/** What is held, then the rest; nothing that was given out is held any longer. */
async function* following(
  held: ItemsText[],
  rest: AsyncGenerator<ItemsText, void> | undefined,
): AsyncGenerator<ItemsText, void> {
  for (let one = held.shift(); one !== undefined; one = held.shift()) yield one;
  if (rest !== undefined) yield* rest;
}

function tail(last: string | undefined): string {
  return `],"nextoffsetid":"${last ?? ''}"}`;
}

function nextUrl(path: string, { from, to, limit }: Window, lastoffsetid: string): string {
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    lastoffsetid,
  });
  return `${path.replace(UNSAFE_IN_LINK, encodeURIComponent)}?${query.toString()}`;
}
