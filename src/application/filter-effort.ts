import { atOnce, shown, type Steps } from '../common/index.js';
import { bsonTypeOf } from '../record/pure.js';
import { firstKey, isDocument, isRegularExpression, startsWithOperator } from './filter-values.js';
import { type Filter, LOGICAL } from './filter.js';
import { isPlainBeginning, patternCost } from './pattern/cost.js';
import { NotUnderstoodError } from './pattern/cursor.js';

const MOST_PATTERNS = 100;
/** A plain beginning takes MongoDB 85 ns on a text, however short that is; a list may have a million. */
const MOST_BEGINNINGS = 200;
/** Judging a longer one would hold up the service, and none takes few enough steps. */
const LONGEST = 4000;
/**
 * Steps per character of a text, of all patterns of a filter together. A step takes MongoDB 8 to 17 ns, so a text of a million
 * characters takes 1 to 2 s.
 */
const MOST_STEPS = 100;
/** Beyond these the number says no more. */
const MANY = 10_000;

/**
 * Numbers in the path of a field. Each may be a place in a list or a name in its elements, so that a list in a list in a list
 * takes MongoDB twice as long for each.
 */
const MOST_NUMBERS = 8;
const NUMBER = /^\d+$/;

/** A regular expression of a filter, and its place. */
interface Pattern {
  source: string;
  options: string;
  place: string;
}

/**
 * Why a valid filter could keep MongoDB busy for too long over one record, in one sentence that names the place; undefined if
 * it could not. MongoDB interrupts nothing within a record, so what may take long must not start.
 */
export function effortFault(filter: Filter): string | undefined {
  return atOnce(effortInSteps(filter));
}

/** The same, a regular expression at a time: judging a long one takes some milliseconds. */
export function* effortInSteps(filter: Filter): Steps<string | undefined> {
  return pathsFault(filter) ?? (yield* patternsFault(filter));
}

/** A field of a filter with its condition, and where it stands, such as `$or[1].data.price`. */
export interface FilterPart {
  place: string;
  /** As it is written: the whole path. */
  field: string;
  condition: unknown;
}

/** Every field that a valid filter (contract §4) has a condition on, as the record has it: not within `$elemMatch`. */
export function partsOf(filter: Filter): FilterPart[] {
  return Object.entries(filter).flatMap(([key, value]: [string, unknown]) => {
    if (!key.startsWith('$')) return [{ place: key, field: key, condition: value }];
    return (value as Filter[]).flatMap((inner, index) =>
      partsOf(inner).map((part) => ({ ...part, place: `${key}[${index}].${part.place}` })),
    );
  });
}

/** The parts, and those that `$elemMatch` has for the elements of their fields: `rows.a` within `rows`. */
export function withinElements(parts: FilterPart[]): FilterPart[] {
  return parts.flatMap((part) => [part, ...withinElements(elementsOf(part))]);
}

function pathsFault(filter: Filter): string | undefined {
  const numbers = (field: string) => field.split('.').filter((name) => NUMBER.test(name)).length;
  const part = withinElements(partsOf(filter)).find(({ field }) => numbers(field) > MOST_NUMBERS);
  if (part === undefined) return undefined;
  return `The path at ${shown(part.place)} has ${numbers(part.field)} numbers, and may take very long in nested lists; at most ${MOST_NUMBERS} are allowed.`;
}

function* patternsFault(filter: Filter): Steps<string | undefined> {
  let steps = 0;
  let count = 0;
  let beginnings = 0;
  for (const { source, options, place } of patternsIn(filter)) {
    if (isPlainBeginning(source) && /^s*$/.test(options)) {
      beginnings += 1;
      if (beginnings > MOST_BEGINNINGS)
        return `${place} is one regular expression of a plain text after "^" more than the ${MOST_BEGINNINGS} that are allowed; give the records a field with that text, and list its values with "$in".`;
      continue;
    }
    count += 1;
    if (count > MOST_PATTERNS)
      return `${place} is one regular expression more than the ${MOST_PATTERNS} that are allowed; one such as "^ERP-" does not count, a plain text after "^".`;
    if (source.length > LONGEST)
      return `The regular expression at ${place} has ${source.length} characters; at most ${LONGEST} are allowed.`;
    yield;
    const cost = costOf(source, options);
    if (typeof cost === 'string')
      return `The regular expression at ${place} has "${shown(cost)}", with which it may take very long; leave it out, or write the options "i", "m", "s" and "x" as "$options".`;
    if (cost === Infinity) return endless(place);
    steps += cost;
    if (steps > MOST_STEPS)
      return `The regular expressions up to ${place} take ${steps > MANY ? `over ${MANY}` : Math.ceil(steps)} steps for each character of a text; at most ${MOST_STEPS} are allowed. Begin them with "^", or make their texts and counts shorter.`;
  }
  return undefined;
}

function endless(place: string): string {
  return `The regular expression at ${place} may take very long on a long text. Begin it with "^", and let no two repetitions without end ("*", "+", "{1,}") take the same characters, as in "^[a-z]+-[0-9]+$"; "foo.*bar" can be two conditions, "foo" and "bar".`;
}

/** Steps per character, or the part that was not understood. */
function costOf(source: string, options: string): number | string {
  try {
    return patternCost(source, options);
  } catch (error) {
    if (error instanceof NotUnderstoodError) return error.part;
    throw error;
  }
}

/** All regular expressions of a filter, at any depth. */
function* patternsIn(value: unknown, place = ''): Generator<Pattern> {
  if (isRegularExpression(value)) yield { ...writtenIn(value), place };
  else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* patternsIn(inner, `${place}[${index}]`);
  } else if (isDocument(value)) {
    for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
      const at = place === '' ? shown(key) : `${place}.${shown(key)}`;
      if (key === '$regex') yield { ...withOptions(inner, value['$options']), place: at };
      else yield* patternsIn(inner, at);
    }
  }
}

function withOptions(regex: unknown, options: unknown): Omit<Pattern, 'place'> {
  const { source, options: own } = writtenIn(regex);
  return { source, options: own + (typeof options === 'string' ? options : '') };
}

function writtenIn(regex: unknown): Omit<Pattern, 'place'> {
  if (typeof regex === 'string') return { source: regex, options: '' };
  if (regex instanceof RegExp) return { source: regex.source, options: regex.flags };
  if (bsonTypeOf(regex) !== 'BSONRegExp') return { source: '', options: '' };
  const { pattern, options } = regex as { pattern: string; options: string };
  return { source: pattern, options };
}

function elementsOf({ place, field, condition }: FilterPart): FilterPart[] {
  if (!isDocument(condition)) return [];
  return Object.entries(condition).flatMap(([operator, argument]: [string, unknown]): FilterPart[] => {
    const at = `${place}.${operator}`;
    if (operator === '$not') return elementsOf({ place: at, field, condition: argument });
    if (operator === '$all' && Array.isArray(argument))
      return argument.flatMap((one, index) =>
        elementsOf({ place: `${at}[${index}]`, field, condition: one as unknown }),
      );
    if (operator !== '$elemMatch' || !isDocument(argument)) return [];
    const isFilter = !startsWithOperator(argument) || LOGICAL.has(firstKey(argument)!);
    if (!isFilter) return elementsOf({ place: at, field, condition: argument });
    return partsOf(argument).map((part) => ({
      place: `${at}.${part.place}`,
      field: `${field}.${part.field}`,
      condition: part.condition,
    }));
  });
}
