import {
  begin,
  type BegunItems,
  itemsFrom,
  type PageSource,
  placeBehind,
  type PlacedItems,
  takenItems,
  type Page,
  idOf,
  type ItemPlace,
  type PageForm,
} from './page-items.js';
import { later } from '../../../common/index.js';
import { cursorOf, type Section } from './changes-cursor.js';

export const LINES_TYPE = 'application/x-ndjson';

/** A line carries a cursor after this many items, so that an interrupted client repeats no more than these. */
export const CURSOR_EVERY = 1000;

const LINE_END = Buffer.from('\n');

/** However slowly a stretch is taken, a right that is gone ends it (contract §4: within 2 s; milliseconds). */
const LOOK_EVERY_MS = 1000;

/** The lines between and behind the items. */
interface LinesForm {
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

/** The window of a page of `changes`, its `to` settled, and where its answer leads. */
export interface ShownWindow {
  /** The name of the feed, for its cursors. */
  feed: string;
  from: Date | undefined;
  to: Date;
  /** Whether the clock has settled `to`. */
  toIsClock: boolean;
  limit: number;
  withDeletes: boolean;
  /** What each reading of the page is about. */
  sections: Section[];
}

/** The envelope of `changes`: `next` and a `nextoffsetid` where the page may go on, and always a `cursor`. */
export function formOf(window: ShownWindow): PageForm {
  const { to, limit } = window;
  return {
    headers: () => Promise.resolve({}),
    tail: (end, isFull) => {
      const nextoffsetid = isFull && end ? within(window, end) : '';
      const cursor = nextoffsetid || behindWindow(window);
      const next = nextoffsetid && `?cursor=${nextoffsetid}&limit=${limit}`;
      const told = { to: to.toISOString(), nextoffsetid, ...(next && { next }), cursor };
      return `],${JSON.stringify(told).slice(1)}\n`;
    },
  };
}

/** The lines of `changes` that tell no item: where to go on, and that the window has ended. */
export function linesFormOf(window: ShownWindow): LinesForm {
  const line = (told: object) => `${JSON.stringify(told)}\n`;
  return {
    cursor: (end) => line({ op: 'cursor', cursor: within(window, end) }),
    end: () => line({ op: 'end', to: window.to.toISOString(), cursor: behindWindow(window) }),
  };
}

function within(
  { feed, from, to, toIsClock, withDeletes, sections }: ShownWindow,
  { reading, last }: ItemPlace,
): string {
  const at = { section: sections[reading]!, lastoffsetid: idOf(last) };
  return cursorOf(feed, { from, to, toIsClock, ...at, withDeletes });
}

function behindWindow({ feed, from, to }: ShownWindow): string {
  return cursorOf(feed, { from: from === undefined ? to : later(from, to) });
}
