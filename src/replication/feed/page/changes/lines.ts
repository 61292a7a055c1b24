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

/** After so many items a line tells a cursor: whoever lost the rest has no more than these to read again. */
export const CURSOR_EVERY = 1000;

const LINE_END = Buffer.from('\n');

/** The lines between and behind the items. */
export interface LinesForm {
  cursor: (end: PlacedItems) => string;
  end: () => string;
}

/** A whole window, one item a line, read page by page: no more than a reply is held. */
export async function linesOf(source: PageSource, form: LinesForm): Promise<Page> {
  return { headers: {}, body: lines(source, form, await begin(source)) };
}

async function* lines(source: PageSource, form: LinesForm, first: BegunItems): AsyncGenerator<Buffer, void> {
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
    if (end !== undefined && begun !== undefined) yield Buffer.from(form.cursor(end));
  }
  yield Buffer.from(form.end());
  share.goesOn = false;
}

function stretchBehind(source: PageSource, end: PlacedItems): BegunItems {
  const place = placeBehind(source, end, source.window.limit);
  return { items: [], isAll: false, place, rest: itemsFrom(source, place) };
}
