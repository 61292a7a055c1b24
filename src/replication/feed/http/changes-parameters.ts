import { type Parsed, parseDate, shown } from '../../../common/index.js';
import { type InputError, problems } from '../../../http/index.js';
import {
  behindPlace,
  type ChangesPlace,
  type ChangesRequest,
  isWithin,
  placeOf,
  type Within,
} from '../page/index.js';
import { limitOf, readerOf } from './parameters.js';

/** For which feed a query was sent, by the name that its cursors carry. */
export interface AskedFeed {
  feed: string;
  limitMax: number;
  /** Whether the client takes one item a line rather than a page. */
  asLines: boolean;
}

const BESIDE_CURSOR = ['from', 'to', 'lastoffsetid', 'deletes'] as const;

/** What the query says of a window beside a `lastoffsetid`. */
interface Told {
  from: Date | undefined;
  to: Date | undefined;
  deletes: 'skip' | undefined;
}

/** Reads the query string of `changes`; throws 400 with a sentence for each parameter that is not right. */
export function parseChanges(
  query: Record<string, unknown>,
  { feed, limitMax, asLines }: AskedFeed,
): ChangesRequest {
  const errors: InputError[] = [];
  const read = readerOf(query, errors);
  const told = {
    from: read('from', parseDate),
    to: read('to', parseDate),
    deletes: read('deletes', parseDeletes),
  };
  const cursor = read('cursor', (text) => placeOf(feed, text));
  const place = read('lastoffsetid', (text) => parseOffset(feed, text, told));
  const form = { limit: limitOf(read, limitMax), asLines };
  errors.push(...disagreeing(query, told));
  if (errors.length > 0) throw problems.invalidRequest(errors);
  const known = cursor ?? place;
  if (known !== undefined) return behindPlace(form, known);
  const { from, to, deletes } = told;
  return { ...form, from, to, withDeletes: deletes === undefined, place: undefined };
}

/** What is right by itself and wrong together. */
function disagreeing(query: Record<string, unknown>, { from, deletes }: Told): InputError[] {
  const beside = BESIDE_CURSOR.filter((name) => query['cursor'] !== undefined && query[name] !== undefined);
  if (beside.length > 0)
    return [{ parameter: 'cursor', detail: `goes with nothing but limit. Leave out ${beside.join(', ')}.` }];
  if (from !== undefined && deletes === 'skip')
    return [
      {
        parameter: 'deletes',
        detail:
          'is for a first harvest only: with from, deletes would be lost. Leave it out, or leave out from.',
      },
    ];
  return [];
}

function parseDeletes(text: string): Parsed<'skip'> {
  return text === 'skip'
    ? { value: text }
    : { error: `"${shown(text)}" is not known. Send deletes=skip, or leave it out.` };
}

/** Whoever goes on repeats the window of the first page, or says nothing of it. */
function parseOffset(feed: string, text: string, told: Told): Parsed<ChangesPlace | undefined> {
  if (text === '') return { value: undefined };
  const parsed = placeOf(feed, text);
  if ('error' in parsed) return { error: parsed.error.replace(/cursor/g, 'nextoffsetid') };
  const place = parsed.value;
  if (!isWithin(place)) return { error: `"${shown(text)}" leads to the next window. Send it as cursor.` };
  const isOther =
    (told.from !== undefined && told.from.getTime() !== place.from?.getTime()) ||
    (told.to !== undefined && !isToOf(place, told.to)) ||
    (told.deletes !== undefined && place.withDeletes);
  return isOther
    ? {
        error: `"${shown(text)}" is of another window. Send the from, to and deletes of the first page beside it, or none of them.`,
      }
    : { value: place };
}

/** The first page may have told a `to` that lay beyond the clock: which one it was, nobody knows any more. */
function isToOf({ to, toIsClock }: Pick<Within, 'to' | 'toIsClock'>, told: Date): boolean {
  return toIsClock ? told >= to : told.getTime() === to.getTime();
}
