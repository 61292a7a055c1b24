import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { type Parsed, shown, later } from '../../../platform/common/index.js';
import {
  begin,
  type BegunItems,
  itemsFrom,
  type PageSource,
  placeAfter,
  type PlacedItems,
  takenItems,
  type Page,
  idOf,
  type ItemPlace,
  type PageForm,
} from './page-items.js';

/** The sections of `changes`, in the order of delivery: records that match, records that left, deleted records. */
export const SECTIONS = ['matching', 'left', 'gone'] as const;

export type Section = (typeof SECTIONS)[number];

/** A position inside a window whose `to` is fixed. */
export interface Within {
  from: Date | undefined;
  to: Date;
  /** Whether `to` was set from the clock, because the request omitted it or sent a later time. */
  toIsClock: boolean;
  section: Section;
  lastoffsetid: mongo.ObjectId;
  /** Whether deletes are delivered. False in a first harvest into an empty copy. */
  withDeletes: boolean;
}

/** A window that was read to its end. The next window begins at `from`. */
export interface Ended {
  from: Date;
}

export type ChangesPlace = Within | Ended;

const FEED_DIGITS = 12;
const BASE = 36;
const FORM = /^([0-9a-f]{12})\.(-|-?[0-9a-z]{1,11})(?:\.(-?[0-9a-z]{1,11})\.([mlg])([0-9a-f]{24})(s?)(c?))?$/;
/** Dates in the years 0000 to 9999, the range that is accepted everywhere. */
const FIRST_MS = Date.UTC(-1, 12);
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** Whether a place is within a window. */
export function isWithin(place: ChangesPlace | undefined): place is Within {
  return place !== undefined && 'section' in place;
}

/** Encodes a place as an opaque cursor of a feed. A cursor needs no URL encoding. */
export function cursorOf(feed: string, place: ChangesPlace): string {
  const begin = [digestOf(feed), place.from === undefined ? '-' : dateText(place.from)];
  if (!isWithin(place)) return begin.join('.');
  const { to, toIsClock, section, lastoffsetid, withDeletes } = place;
  const marks = `${withDeletes ? '' : 's'}${toIsClock ? 'c' : ''}`;
  const at = `${section[0]}${lastoffsetid.toHexString()}${marks}`;
  return [...begin, dateText(to), at].join('.');
}

/** Parses a cursor that {@link cursorOf} made. Returns an error sentence for any other text. */
export function parsePlace(feed: string, text: string): Parsed<ChangesPlace> {
  const [, digest, from = '', to, letter, id, skips, clock] = FORM.exec(text) ?? [];
  const bounds = [from === '-' ? undefined : dateOf(from), to === undefined ? undefined : dateOf(to)];
  const isWrong = digest === undefined || bounds.some((date) => Number.isNaN(date?.getTime()));
  const [since, until] = bounds;
  if (isWrong || (since === undefined && until === undefined))
    return {
      error: `"${shown(text)}" is not a cursor of changes. Send the cursor of the previous answer unchanged.`,
    };
  if (digest !== digestOf(feed))
    return {
      error: `"${shown(text)}" is a cursor of another feed. Send it to that feed; to begin this feed, send none.`,
    };
  if (until === undefined) return { value: { from: since! } };
  const section = SECTIONS.find((name) => name[0] === letter)!;
  const lastoffsetid = mongo.ObjectId.createFromHexString(id!);
  const marks = { toIsClock: clock !== '', withDeletes: skips === '' };
  return { value: { from: since, to: until, section, lastoffsetid, ...marks } };
}

function digestOf(feed: string): string {
  return createHash('sha256').update(feed).digest('hex').slice(0, FEED_DIGITS);
}

function dateText(date: Date): string {
  return date.getTime().toString(BASE);
}

function dateOf(text: string): Date {
  const ms = Number.parseInt(text, BASE);
  return new Date(ms >= FIRST_MS && ms <= LAST_MS ? ms : NaN);
}

export const LINES_TYPE = 'application/x-ndjson';

/** The number of items between two cursor lines, so at most this many are sent again after an interruption. */
export const CURSOR_EVERY = 1000;

const LINE_END = Buffer.from('\n');

/**
 * Interval of the access checks while lines are sent, in milliseconds. It applies to slow clients too: a revoked right ends
 * the lines within 2 s (contract §4).
 */
const LOOK_EVERY_MS = 1000;
/** Precedes a wait in which no sign of life may be sent. It has no text. */
export const SILENCE = Buffer.alloc(0);

/** The lines between the items and after the last one. */
interface LinesForm {
  cursor: (end: PlacedItems) => string;
  end: () => string;
}

/** Throws if a new request of the same reader would be refused. */
export type MayGoOn = () => Promise<void>;

/**
 * Sends the rest of a window, from the place of the request on, as one item per line. It reads page by page. The lines
 * outlive the access check of their request, so access is checked again while they are sent. The answer is cut off once
 * the reader would be refused a page.
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
  const { budget, window } = source;
  for (let begun: BegunItems | undefined = first; begun !== undefined;) {
    let end: PlacedItems | undefined;
    let count = 0;
    for await (const one of takenItems(source, begun)) {
      yield* one.pieces;
      yield LINE_END;
      end = one;
      count += one.count;
    }
    begun = end !== undefined && count === window.limit ? itemsAfter(source, end) : undefined;
    if (end === undefined || begun === undefined) continue;
    yield Buffer.from(form.cursor(end));
    await mayGoOn();
  }
  yield Buffer.from(form.end());
  budget.goesOn = false;
}

/**
 * Passes pieces through. Checks access before a piece if the last check is older than {@link LOOK_EVERY_MS}. A check is
 * announced by {@link SILENCE}: a piece may end within an item, and a sign of life there would change the text.
 */
export async function* whileAllowed(
  pieces: AsyncGenerator<Buffer, void>,
  mayGoOn: MayGoOn,
): AsyncGenerator<Buffer, void> {
  let lookedAt = performance.now();
  for await (const piece of pieces) {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      yield SILENCE;
      await mayGoOn();
      lookedAt = performance.now();
    }
    yield piece;
  }
}

function itemsAfter(source: PageSource, end: PlacedItems): BegunItems {
  const place = placeAfter(source, end, source.window.limit);
  return { items: [], isAll: false, place, rest: itemsFrom(source, place) };
}

/** The window of a page of `changes`, with `to` fixed, and the data for its cursors. */
export interface ShownWindow {
  /** The name of the feed, which its cursors contain as a digest. */
  feed: string;
  from: Date | undefined;
  to: Date;
  /** Whether `to` was set from the clock. */
  toIsClock: boolean;
  limit: number;
  withDeletes: boolean;
  /** The section of each reading of the page. */
  sections: Section[];
}

/** The envelope of `changes`: always a `cursor`; `next` and a non-empty `nextoffsetid` only on a full page. */
export function formOf(window: ShownWindow): PageForm {
  const { to, limit } = window;
  return {
    headers: () => Promise.resolve({}),
    tail: (end, isFull) => {
      const nextoffsetid = isFull && end ? cursorAt(window, end) : '';
      const cursor = nextoffsetid || behindWindow(window);
      const next = nextoffsetid && `?cursor=${nextoffsetid}&limit=${limit}`;
      const envelope = { to: to.toISOString(), nextoffsetid, ...(next && { next }), cursor };
      return `],${JSON.stringify(envelope).slice(1)}\n`;
    },
  };
}

/** The lines of `changes` that hold no item: a cursor to resume from, and the end of the window. */
export function linesFormOf(window: ShownWindow): LinesForm {
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  return {
    cursor: (end) => line({ op: 'cursor', cursor: cursorAt(window, end) }),
    end: () => line({ op: 'end', to: window.to.toISOString(), cursor: behindWindow(window) }),
  };
}

function cursorAt(
  { feed, from, to, toIsClock, withDeletes, sections }: ShownWindow,
  { reading, last }: ItemPlace,
): string {
  const at = { section: sections[reading]!, lastoffsetid: idOf(last) };
  return cursorOf(feed, { from, to, toIsClock, ...at, withDeletes });
}

function behindWindow({ feed, from, to }: ShownWindow): string {
  return cursorOf(feed, { from: from === undefined ? to : later(from, to) });
}
