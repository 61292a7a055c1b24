import { calculateObjectSize } from 'bson';
import type { mongo } from 'mongoose';
import { shown } from '../platform/common/index.js';
import {
  firstKey,
  hidden,
  holdsHidden,
  isDocument,
  isHidden,
  isLeaf,
  isNumber,
  isRegularExpression,
  pathTo,
  startsWithOperator,
  wholeCompared,
} from './filter-values.js';

/** A filter must be smaller than this number of bytes of BSON. */
export const FILTER_BYTES = 65_536;

const MOST_LEVELS = 10;
const MOST_VALUES = 1000;
/**
 * Maximum number of documents, lists and values in a filter. A value has at most one document or list around it for
 * each level, so a filter with more parts has too many values.
 */
const MOST_PARTS = MOST_VALUES * (MOST_LEVELS + 1);

const TOO_MANY: Fault = `The filter has more than ${MOST_VALUES} values, the most that is allowed.`;

const READ: Record<Role, (part: Part) => Part[] | Fault> = {
  filter: readFilter,
  filters: (part) => elements(part, () => 'filter'),
  condition: readCondition,
  value: readValue,
  all: (part) => elements(part, (element) => (firstKey(element) === '$elemMatch' ? 'condition' : 'value')),
  match: (part) => (isCondition(part.value) ? readCondition(part) : readFilter(part)),
};

const filters: Operator = {
  role: 'filters',
  wants: 'a list of one or more filters',
  fits: (argument) => Array.isArray(argument) && argument.length > 0,
};

const comparison: Operator = { role: 'value', wants: 'a value', fits: () => true };

const order: Operator = { ...comparison, isOrder: true };

const oneOfList: Operator = { role: 'value', wants: 'a list of values', fits: Array.isArray };

/** Operators that join whole filters. */
export const LOGICAL: ReadonlyMap<string, Operator> = new Map([
  ['$and', filters],
  ['$or', filters],
  ['$nor', filters],
]);

/** Operators of the condition on one field. */
const CONDITIONAL: ReadonlyMap<string, Operator> = new Map([
  [
    '$not',
    {
      role: 'condition',
      wants: 'a condition such as {"$gt": 5}, or a regular expression',
      fits: isNegatable,
    },
  ],
  ['$eq', comparison],
  ['$ne', comparison],
  ['$gt', order],
  ['$gte', order],
  ['$lt', order],
  ['$lte', order],
  ['$in', oneOfList],
  ['$nin', oneOfList],
  ['$exists', comparison],
  ['$type', { role: 'value', wants: 'the name or number of a BSON type, or a list of them', fits: isTypes }],
  ['$size', { role: 'value', wants: 'a whole number from 0', fits: isCount }],
  ['$all', { role: 'all', wants: 'a list of values', fits: Array.isArray }],
  ['$elemMatch', { role: 'match', wants: 'a filter or a condition', fits: isDocument }],
  ['$mod', { role: 'value', wants: 'a list of two numbers, divisor and remainder', fits: isDivision }],
  ['$regex', { role: 'value', wants: 'a regular expression', fits: isPattern }],
  ['$options', { role: 'value', wants: 'a text such as "i"', fits: isText }],
]);

/** All allowed operators, for error sentences. */
const ALLOWED = [...LOGICAL.keys(), ...CONDITIONAL.keys()].join(' ');

/** A MongoDB query document, matched against the record document. */
export type Filter = mongo.Document;

interface Part {
  value: unknown;
  role: Role;
  /** Keys and positions from the filter's own start, such as `$or[1].data.price`. */
  place: string;
  /** One more than the number of documents and lists that contain it: the level of a document or list itself. */
  level: number;
  /** The path of the record's field that it concerns, also through lists: `rows.a` within `$elemMatch` of `rows`. */
  field: string;
  /** Whether the field is compared with it by order. */
  isOrder?: boolean | undefined;
}

/** A sentence that explains why a part is not allowed in its place. */
type Fault = string;

/**
 * Why a stored filter cannot be used, in one sentence that names the place; undefined if it can (contract §4).
 * MongoDB itself checks the rest, such as the syntax of a regular expression. Each document and each list is a level,
 * starting with the filter itself; anything without parts is a value. The size is checked last, because a filter that
 * has passed the other checks is measured quickly.
 */
export function filterFault(filter: unknown): Fault | undefined {
  return partsFault(filter) ?? sizeFault(filter as Filter);
}

function partsFault(filter: unknown): Fault | undefined {
  const waiting: Part[] = [{ value: filter, role: 'filter', place: '', level: 1, field: '' }];
  let values = 0;
  for (const part of waiting) {
    if (part.level > MOST_LEVELS && !isLeaf(part.value)) {
      return `The filter is nested deeper than ${MOST_LEVELS} levels, the most that is allowed, ${at(part)}.`;
    }
    const parts = READ[part.role](part);
    if (typeof parts === 'string') return parts;
    if (parts.length === 0) values += 1;
    for (const inner of parts) waiting.push(inner);
    if (values > MOST_VALUES || waiting.length > MOST_PARTS) return TOO_MANY;
  }
  return undefined;
}

function sizeFault(filter: Filter): Fault | undefined {
  const bytes = calculateObjectSize(filter);
  if (bytes < FILTER_BYTES) return undefined;
  return `The filter takes ${bytes} bytes; it must be smaller than ${FILTER_BYTES} (64 KiB).`;
}

/** Field names with their conditions, and logical operators. */
function readFilter(part: Part): Part[] | Fault {
  if (!isDocument(part.value)) return `${named(part)} must be a document such as {"data.color": "red"}.`;
  return keys(part, part.value, (key, inner) => {
    if (!key.startsWith('$')) {
      const field = pathTo(part.field, key);
      return isHidden(field) ? hidden(key, field, at(part)) : { ...inner, role: 'condition', field };
    }
    const operator = LOGICAL.get(key);
    if (operator !== undefined) return argument(operator, key, inner);
    return CONDITIONAL.has(key)
      ? `"${key}" ${at(part)} needs a field around it, as in {"data.price": {"${key}": …}}.`
      : notAllowed(key, part);
  });
}

/** The condition after a field name: operators, or the value that the field must have. */
function readCondition(part: Part): Part[] | Fault {
  const { value } = part;
  if (!isDocument(value) || !startsWithOperator(value)) return readValue(part);
  if ('$options' in value && !('$regex' in value)) return `"$options" ${at(part)} needs "$regex" beside it.`;
  return keys(part, value, (key, inner) => {
    const operator = CONDITIONAL.get(key);
    if (operator !== undefined) return argument(operator, key, inner);
    if (!key.startsWith('$'))
      return `${named(part)} mixes operators with the key "${shown(key)}"; use either.`;
    return LOGICAL.has(key)
      ? `"${key}" ${at(part)} joins whole filters and cannot follow a field name.`
      : notAllowed(key, part);
  });
}

/** A value to compare with. MongoDB would treat an operator inside it as a key, which is never intended. */
function readValue(part: Part): Part[] | Fault {
  const { value } = part;
  if (Array.isArray(value)) return elements(part, () => 'value');
  if (isLeaf(value)) return [];
  if (!isDocument(value)) return `${named(part)} is a kind of value that a filter cannot compare with.`;
  if (part.isOrder === true && holdsHidden(part.field)) return wholeCompared(part.field, at(part));
  return keys(part, value, (key, inner) => {
    if (!key.startsWith('$')) {
      const field = pathTo(part.field, key);
      return isHidden(field) ? hidden(key, field, at(part)) : { ...inner, role: 'value', field };
    }
    return CONDITIONAL.has(key) || LOGICAL.has(key)
      ? `"${key}" ${at(part)} is inside a value; write the path with dots, as in {"data.price": {"$gt": 5}}.`
      : notAllowed(key, part);
  });
}

function argument(operator: Operator, key: string, part: Part): Part | Fault {
  return operator.fits(part.value)
    ? { ...part, role: operator.role, isOrder: operator.isOrder }
    : `"${key}" takes ${operator.wants}; ${part.place} is something else.`;
}

function keys(
  part: Part,
  document: object,
  read: (key: string, inner: Part) => Part | Fault,
): Part[] | Fault {
  const parts: Part[] = [];
  const entries = Object.entries(document);
  if (entries.length > MOST_VALUES) return TOO_MANY;
  for (const [key, value] of entries) {
    const place = part.place === '' ? shown(key) : `${part.place}.${shown(key)}`;
    if (key.includes('\0')) return `${place} has a character that no name has (U+0000); take it out.`;
    const inner = read(key, { ...part, value, place, level: part.level + 1 });
    if (typeof inner === 'string') return inner;
    parts.push(inner);
  }
  return parts;
}

function elements(part: Part, role: (element: unknown) => Role): Part[] | Fault {
  const values = part.value as unknown[];
  if (values.length > MOST_VALUES) return TOO_MANY;
  return values.map((value, index) => ({
    ...part,
    value,
    role: role(value),
    place: `${part.place}[${index}]`,
    level: part.level + 1,
  }));
}

function isCondition(value: unknown): boolean {
  return startsWithOperator(value) && !LOGICAL.has(firstKey(value) ?? '');
}

function notAllowed(key: string, part: Part): Fault {
  return `"${shown(key)}" ${at(part)} is not allowed; allowed operators are ${ALLOWED}.`;
}

function named(part: Part): string {
  return part.place === '' ? 'The filter' : part.place;
}

function at(part: Part): string {
  return part.place === '' ? 'at the top' : `at ${part.place}`;
}

/**
 * The syntax by which a part of a filter is read: a filter (field names and logical operators) or a list of them, the
 * condition on one field, a value, the argument of `$all`, or the argument of `$elemMatch`.
 */
type Role = 'filter' | 'filters' | 'condition' | 'value' | 'all' | 'match';

interface Operator {
  role: Role;
  /** A description of the valid argument, for the error sentence. */
  wants: string;
  fits: (argument: unknown) => boolean;
  /** It compares by order, so a few answers would reveal the stored value. */
  isOrder?: boolean;
}

function isNegatable(argument: unknown): boolean {
  return isRegularExpression(argument) || (isDocument(argument) && startsWithOperator(argument));
}

function isTypes(argument: unknown): boolean {
  return Array.isArray(argument) ? argument.length > 0 && argument.every(isType) : isType(argument);
}

function isType(value: unknown): boolean {
  return isText(value) || isNumber(value);
}

function isCount(argument: unknown): boolean {
  const count = isNumber(argument) ? Number(argument) : NaN;
  return Number.isInteger(count) && count >= 0;
}

function isDivision(argument: unknown): boolean {
  return Array.isArray(argument) && argument.length === 2 && argument.every(isNumber);
}

function isPattern(argument: unknown): boolean {
  return isText(argument) || isRegularExpression(argument);
}

function isText(argument: unknown): boolean {
  return typeof argument === 'string';
}
