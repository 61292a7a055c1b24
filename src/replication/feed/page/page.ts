import {
  begin,
  type BegunItems,
  type ItemPlace,
  type PageBeginning,
  type PageSource,
  takenItems,
} from './page-items.js';

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
