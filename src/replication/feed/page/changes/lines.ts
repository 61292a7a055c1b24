import {
  begin,
  type BegunItems,
  itemsFrom,
  type PageSource,
  placeBehind,
  type PlacedItems,
  takenItems,
} from '../page-items.js';
import type { Page } from '../page.js';

export const LINES_TYPE = 'application/x-ndjson';

/** A line carries a cursor after this many items, so that an interrupted client repeats no more than these. */
export const CURSOR_EVERY = 1000;

const LINE_END = Buffer.from('\n');

/** However slowly a stretch is taken, a right that is gone ends it (contract §4: within 2 s; milliseconds). */
const LOOK_EVERY_MS = 1000;

/** The lines between and behind the items. */
export interface LinesForm {
  cursor: (end: PlacedItems) => string;
  end: () => string;
}

/** Throws if the reader of the lines would now be refused a page. */
export type MayGoOn = () => Promise<void>;

/**
 * A whole window, one item a line, read page by page: no more than a reply is held. It breaks off where its reader would be
 * refused the next page, since it outlives the request that was let in.
 */
export async function linesOf(source: PageSource, form: LinesForm, mayGoOn: MayGoOn): Promise<Page> {
  const first = await begin(source);
  return { headers: {}, body: whileAllowed(lines(source, form, { first, mayGoOn }), mayGoOn) };
}

async function* lines(
  source: PageSource,
  form: LinesForm,
  { first, mayGoOn }: { first: BegunItems; mayGoOn: MayGoOn },
): AsyncGenerator<Buffer, void> {
  const { share, window } = source;
  for (let begun: BegunItems | undefined = first; begun !== undefined;) {
    let end: PlacedItems | undefined;
    let count = 0;
    for await (const one of takenItems(source, begun)) {
      yield* one.pieces;
      yield LINE_END;
      end = one;
      count += one.count;
    }
    begun = end !== undefined && count === window.limit ? stretchBehind(source, end) : undefined;
    if (end === undefined || begun === undefined) continue;
    yield Buffer.from(form.cursor(end));
    await mayGoOn();
  }
  yield Buffer.from(form.end());
  share.goesOn = false;
}

/** The same pieces, and a look between two of them wherever the last one was long ago. */
async function* whileAllowed(
  pieces: AsyncGenerator<Buffer, void>,
  mayGoOn: MayGoOn,
): AsyncGenerator<Buffer, void> {
  let lookedAt = performance.now();
  for await (const piece of pieces) {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      await mayGoOn();
      lookedAt = performance.now();
    }
    yield piece;
  }
}

function stretchBehind(source: PageSource, end: PlacedItems): BegunItems {
  const place = placeBehind(source, end, source.window.limit);
  return { items: [], isAll: false, place, rest: itemsFrom(source, place) };
}
