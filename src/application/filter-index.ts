import { bsonTypeOf } from '../record/pure.js';
import type { Filter } from './filter.js';
import { firstKey, isDocument, isRegularExpression, startsWithOperator } from './filter-values.js';

/** The fields of an index, in their order. */
export type IndexKey = Record<string, 1>;

/** How far an index narrows the records that are read for a condition: smaller is better. */
const NARROWED_TO = {
  oneValue: 0,
  someValues: 1,
  range: 2,
  oneSide: 3,
  /** Records without the field: often most of them. */
  missing: 4,
} as const;

type Narrowing = (typeof NARROWED_TO)[keyof typeof NARROWED_TO];

/** The narrowing for each path of a field. */
type Narrowed = Map<string, Narrowing>;

const TENANT: IndexKey = { organizationid: 1, appid: 1 };
/** Fields that the service's own indexes cover, or that need none. */
const COVERED = new Set(['organizationid', 'appid', '_id', 'id', 'lastupdated']);
const LOWER = ['$gt', '$gte'];
const UPPER = ['$lt', '$lte'];
/** A regular expression that begins with `^` and a text: MongoDB reads only the keys with this prefix. */
const BEGINS_WITH_TEXT = /^\^[^\\^$.|?*+()[\]{}](?![*+?{])/;

/**
 * The index that would serve a valid filter (contract §4): `{organizationid, appid}` and the one field that narrows
 * the read most, apart from the fields that need no index of their own. Undefined if no field does. `$nor`, `$not`,
 * `$ne`, `$nin`, `$exists: true`, `$size`, `$mod` and `$type` do not narrow, because they need a scan of all or almost
 * all of an index. An `$or` is served if each of its filters narrows the same field; an `$or` within `$elemMatch` is
 * not served.
 *
 * The index has one such field, never two: MongoDB refuses an index if a record has arrays in two of its fields, and
 * once the index exists, it refuses every write of such a record by any program. Fields with a number in their path
 * are excluded for a similar reason: the number may be an array index or a name, and MongoDB refuses records in which
 * it is both.
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

/** All conditions hold: the best narrowing for each field. */
function allOf(several: Narrowed[]): Narrowed {
  const all: Narrowed = new Map();
  for (const one of several) for (const [path, how] of one) all.set(path, least(how, all.get(path))!);
  return all;
}

/** One of the conditions holds: the fields that all of them narrow, each with its worst narrowing. */
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
  return lower.length > 0 && upper.length > 0 ? NARROWED_TO.range : NARROWED_TO.oneSide;
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
    ? NARROWED_TO.range
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

/** Whether a comparison by order with the value reads one bounded range of an index. */
function isOrdered(value: unknown): boolean {
  if (isNothing(value) || isDocument(value) || Array.isArray(value) || isRegularExpression(value))
    return false;
  return !['MinKey', 'MaxKey'].includes(bsonTypeOf(value) ?? '');
}

function named(path: string, how: Narrowing | undefined): Narrowed {
  return new Map(how === undefined ? [] : [[path, how]]);
}
