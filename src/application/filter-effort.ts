import { atOnce, shown, type Steps } from '../platform/common/index.js';
import { bsonTypeOf } from '../record/pure.js';
import { firstKey, isDocument, isRegularExpression, startsWithOperator } from './filter-values.js';
import { type Filter, LOGICAL } from './filter.js';
import { isPlainBeginning, patternCost } from './pattern/cost.js';
import { NotUnderstoodError } from './pattern/cursor.js';

const MOST_PATTERNS = 100;
/**
 * Maximum number of patterns that are `^` and a plain text. MongoDB needs 85 ns to match one of them against a text,
 * even a short one, and a list may have a million texts.
 */
const MOST_BEGINNINGS = 200;
/**
 * Maximum length of a pattern. The analysis of a longer one would block the service, and its cost would exceed
 * MOST_STEPS anyway.
 */
const LONGEST = 4000;
/**
 * Maximum number of steps per character of a text, for all patterns of a filter together. MongoDB needs 8 to 17 ns
 * for a step, so 1 to 2 s for a text of a million characters.
 */
const MOST_STEPS = 100;
/** Larger numbers of steps are not reported exactly. */
const MANY = 10_000;

/**
 * Maximum number of numeric names in the path of a field. Each may be an array index or a field name, so in nested
 * arrays each one doubles the time that MongoDB needs.
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
 * Why a valid filter could occupy MongoDB for too long on one record, in sentences that name the place; undefined if it
 * could not. MongoDB checks for interrupts only between records, so such a filter must not start.
 */
export function effortFault(filter: Filter): string | undefined {
  return atOnce(effortInSteps(filter));
}

/** Like {@link effortFault}, one regular expression per step: the analysis of a long one takes some milliseconds. */
export function* effortInSteps(filter: Filter): Steps<string | undefined> {
  return pathsFault(filter) ?? (yield* patternsFault(filter));
}

/** A field of a filter with its condition, and its place, such as `$or[1].data.price`. */
export interface FilterPart {
  place: string;
  /** The whole path, as written. */
  field: string;
  condition: unknown;
}

/** Every field with a condition in a valid filter (contract §4), without those inside `$elemMatch`. */
export function partsOf(filter: Filter): FilterPart[] {
  return Object.entries(filter).flatMap(([key, value]: [string, unknown]) => {
    if (!key.startsWith('$')) return [{ place: key, field: key, condition: value }];
    return (value as Filter[]).flatMap((inner, index) =>
      partsOf(inner).map((part) => ({ ...part, place: `${key}[${index}].${part.place}` })),
    );
  });
}

/** The parts, and those inside `$elemMatch` with their full path: `rows.a` for `a` within `rows`. */
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
        return `${place} is one more than the maximum of ${MOST_BEGINNINGS} regular expressions that are "^" and a plain text; store the beginnings of the texts in a field of their own, and list its values with "$in".`;
      continue;
    }
    count += 1;
    if (count > MOST_PATTERNS)
      return `${place} is one more than the maximum of ${MOST_PATTERNS} regular expressions; those that are "^" and a plain text, such as "^ERP-", do not count.`;
    if (source.length > LONGEST)
      return `The regular expression at ${place} has ${source.length} characters; at most ${LONGEST} are allowed.`;
    yield;
    const cost = costOf(source, options);
    if (typeof cost === 'string')
      return `The regular expression at ${place} has "${shown(cost)}", with which it may take very long; leave it out, or write the options "i", "m", "s" and "x" as "$options".`;
    if (cost === Infinity) return endless(place);
    steps += cost;
    if (steps > MOST_STEPS)
      return `The regular expressions up to ${place} take ${steps > MANY ? `over ${MANY}` : Math.ceil(steps)} steps for each character of a text; at most ${MOST_STEPS} are allowed. Begin them with "^", or shorten their texts and lower their counts.`;
  }
  return undefined;
}

function endless(place: string): string {
  return `The regular expression at ${place} may take very long on a long text. Begin it with "^", and let no two repetitions without end ("*", "+", "{1,}") take the same characters, as in "^[a-z]+-[0-9]+$"; "foo.*bar" can be two conditions, "foo" and "bar".`;
}

/** Steps per character, or the part of the syntax whose cost is unknown. */
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
