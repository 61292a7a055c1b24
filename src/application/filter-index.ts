import { bsonTypeOf } from '../record/pure.js';
import type { Filter } from './filter.js';
import { firstKey, isDocument, isRegularExpression, startsWithOperator } from './filter-values.js';

/** The fields of an index, in their order. */
export type IndexKey = Record<string, 1>;

/** To what an index narrows that which is read for a condition: the smaller, the better. */
const NARROWED_TO = {
  oneValue: 0,
  someValues: 1,
  stretch: 2,
  oneSide: 3,
  /** Records without the field: often most of them. */
  missing: 4,
} as const;

type Narrowing = (typeof NARROWED_TO)[keyof typeof NARROWED_TO];

/** By the path of a field. */
type Narrowed = Map<string, Narrowing>;

const TENANT: IndexKey = { organizationid: 1, appid: 1 };
/** The service has indexes over these, or needs none. */
const COVERED = new Set(['organizationid', 'appid', '_id', 'id', 'lastupdated']);
const LOWER = ['$gt', '$gte'];
const UPPER = ['$lt', '$lte'];
/** A regular expression that begins with `^` and a text: MongoDB reads only what begins with that. */
const BEGINS_WITH_TEXT = /^\^[^\\^$.|?*+()[\]{}](?![*+?{])/;

/**
 * The index that would serve a valid filter (contract §4): `{organizationid, appid}` and the one field that narrows most
 * what has to be read; nothing where none does, as of `$nor`, `$not`, `$ne`, `$nin`, `$exists: true`, `$size`, `$mod` and
 * `$type`, for which an index is read through, or nearly so. An `$or` is served where each of its filters narrows the same
 * field; none within `$elemMatch` is.
 *
 * It is one field, never two: over records that have lists in two fields of an index MongoDB refuses it, and once it
 * stands, each write of such a record, by whatever program. For the same reason no field whose path has a number in it: it
 * may be a place in a list as well as a name, and MongoDB refuses records in which it is both.
 */
export function indexAdvice(filter: Filter): IndexKey | undefined {
  const narrowed = [...narrowedBy(filter)].filter(([path]) => isIndexable(path));
  const best = Math.min(...narrowed.map(([, how]) => how));
  const path = narrowed.find(([, how]) => how === best)?.[0];
  return path === undefined ? undefined : { ...TENANT, [path]: 1 };
}

function isIndexable(path: string): boolean {
  const names = path.split('.');
  const isName = (name: string) => name !== '' && !name.startsWith('$') && !/^\d+$/.test(name);
  return !COVERED.has(names[0]!) && path !== 'data' && names.every(isName);
}

function narrowedBy(filter: Filter, within = ''): Narrowed {
  return allOf(
    Object.entries(filter).map(([key, value]: [string, unknown]) => {
      if (key === '$and') return allOf((value as Filter[]).map((inner) => narrowedBy(inner, within)));
      if (key === '$or' && within === '') return anyOf((value as Filter[]).map((inner) => narrowedBy(inner)));
      return key.startsWith('$') ? new Map<string, Narrowing>() : ofField(`${within}${key}`, value);
    }),
  );
}

/** All conditions hold: the best for each field. */
function allOf(several: Narrowed[]): Narrowed {
  const all: Narrowed = new Map();
  for (const one of several) for (const [path, how] of one) all.set(path, least(how, all.get(path))!);
  return all;
}

/** One of them holds: fields that each of them narrows, by the worst. */
function anyOf([first = new Map(), ...others]: Narrowed[]): Narrowed {
  const common = [...first].filter(([path]) => others.every((one) => one.has(path)));
  return new Map(common.map(([path, how]) => [path, worst([how, ...others.map((one) => one.get(path))])]));
}

function ofField(path: string, condition: unknown): Narrowed {
  if (!isDocument(condition) || !startsWithOperator(condition)) return named(path, byValue(condition));
  const parts = Object.entries(condition).map(([operator, argument]: [string, unknown]) => {
    if (operator === '$elemMatch') return byElement(path, argument);
    return named(path, byOperator(operator, argument, condition));
  });
  return allOf(parts);
}

function byOperator(operator: string, argument: unknown, condition: Filter): Narrowing | undefined {
  if (operator === '$eq') return isNothing(argument) ? NARROWED_TO.missing : NARROWED_TO.oneValue;
  if (operator === '$in') return byValues(argument as unknown[]);
  if (operator === '$all') return byAll(argument as unknown[]);
  if (operator === '$regex') return byPattern(argument, condition['$options']);
  if (operator === '$exists') return argument === false || argument === 0 ? NARROWED_TO.missing : undefined;
  if (![...LOWER, ...UPPER].includes(operator)) return undefined;
  const bounds = (names: string[]) => names.filter((name) => name in condition);
  const [lower, upper] = [bounds(LOWER), bounds(UPPER)];
  if (![...lower, ...upper].every((name) => isOrdered(condition[name]))) return undefined;
  return lower.length > 0 && upper.length > 0 ? NARROWED_TO.stretch : NARROWED_TO.oneSide;
}

function byValue(value: unknown): Narrowing | undefined {
  if (isRegularExpression(value)) return byPattern(value, undefined);
  return isNothing(value) ? NARROWED_TO.missing : NARROWED_TO.oneValue;
}

/** `$in`: as wide as its widest value. */
function byValues(values: unknown[]): Narrowing | undefined {
  const each = values.map(byValue);
  if (each.length === 0 || each.includes(undefined)) return undefined;
  return worst([NARROWED_TO.someValues, ...each]);
}

/** MongoDB uses no index for `$all` in an element, nor for `$elemMatch` in `$all`. */
function byElement(path: string, match: unknown): Narrowed {
  const operator = firstKey(match);
  const isCondition = operator?.startsWith('$') === true && !['$and', '$or', '$nor'].includes(operator);
  if (!isCondition) return narrowedBy(match as Filter, `${path}.`);
  return '$all' in (match as Filter) ? allOf([]) : ofField(path, match);
}

function byAll(values: unknown[]): Narrowing | undefined {
  return least(...values.filter((value) => !startsWithOperator(value)).map(byValue));
}

function byPattern(pattern: unknown, options: unknown): Narrowing | undefined {
  const { source, flags } = patternOf(pattern);
  const all = `${flags}${typeof options === 'string' ? options : ''}`;
  return BEGINS_WITH_TEXT.test(source) && !source.includes('|') && /^s*$/.test(all)
    ? NARROWED_TO.stretch
    : undefined;
}

function patternOf(pattern: unknown): { source: string; flags: string } {
  if (typeof pattern === 'string') return { source: pattern, flags: '' };
  if (pattern instanceof RegExp) return pattern;
  const { pattern: source, options: flags } = pattern as { pattern: string; options: string };
  return { source, flags };
}

function least(...several: (Narrowing | undefined)[]): Narrowing | undefined {
  const known = several.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : (Math.min(...known) as Narrowing);
}

function worst(several: (Narrowing | undefined)[]): Narrowing {
  return Math.max(...several.map((one) => one ?? 0)) as Narrowing;
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

/** Whether what is greater, or less, is one stretch of an index that has an end. */
function isOrdered(value: unknown): boolean {
  if (isNothing(value) || isDocument(value) || Array.isArray(value) || isRegularExpression(value))
    return false;
  return !['MinKey', 'MaxKey'].includes(bsonTypeOf(value) ?? '');
}

function named(path: string, how: Narrowing | undefined): Narrowed {
  return new Map(how === undefined ? [] : [[path, how]]);
}
