import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { type Parsed, shown } from '../../../platform/common/index.js';

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
  const begin = [digestOf(feed), place.from === undefined ? '-' : textOf(place.from)];
  if (!isWithin(place)) return begin.join('.');
  const { to, toIsClock, section, lastoffsetid, withDeletes } = place;
  const marks = `${withDeletes ? '' : 's'}${toIsClock ? 'c' : ''}`;
  const at = `${section[0]}${lastoffsetid.toHexString()}${marks}`;
  return [...begin, textOf(to), at].join('.');
}

/** Parses a cursor that {@link cursorOf} made. Returns an error sentence for any other text. */
export function placeOf(feed: string, text: string): Parsed<ChangesPlace> {
  const [, digest, from = '', to, letter, id, skips, clock] = FORM.exec(text) ?? [];
  const bounds = [from === '-' ? undefined : dateOf(from), to === undefined ? undefined : dateOf(to)];
  const isWrong = digest === undefined || bounds.some((date) => Number.isNaN(date?.getTime()));
  const [since, until] = bounds;
  if (isWrong || (since === undefined && until === undefined))
    return {
      error: `"${shown(text)}" is not a cursor of changes. Send the cursor of the answer before as it is.`,
    };
  if (digest !== digestOf(feed))
    return {
      error: `"${shown(text)}" is a cursor of another feed. Send it to that one; to begin here, send none.`,
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

function textOf(date: Date): string {
  return date.getTime().toString(BASE);
}

function dateOf(text: string): Date {
  const ms = Number.parseInt(text, BASE);
  return new Date(ms >= FIRST_MS && ms <= LAST_MS ? ms : NaN);
}
