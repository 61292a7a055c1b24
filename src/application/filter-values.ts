import type { mongo } from 'mongoose';
import { shown } from '../platform/common/index.js';
import { bsonTypeOf, HIDDEN_FIELDS } from '../record/pure.js';

const LEAF_CLASSES = [Date, RegExp, Uint8Array];
/**
 * A timestamp is one of them, because the driver treats it as a 64-bit number. Where an operator needs a true number,
 * MongoDB itself refuses a timestamp.
 */
const NUMBER_TYPES = ['Decimal128', 'Long', 'Double', 'Int32', 'Timestamp'];
const LEAF_TYPES = [...NUMBER_TYPES, 'ObjectId', 'BSONRegExp', 'Binary', 'MinKey', 'MaxKey'];
const PLAIN_PROTOTYPES: unknown[] = [Object.prototype, null];

/*
 * A filter cannot use a hidden field. A preview counts matches, so a few hundred previews would reveal a hidden value
 * character by character. Also, a change of `emailkey` alone does not change the stamp: a record that begins to match
 * because of it would never be delivered.
 */

const NUMBER = /^\d+$/;
const HIDDEN = HIDDEN_FIELDS.map((field) => field.split('.'));

/** Whether the value is a document, and not a BSON value that JavaScript represents as an object. */
export function isDocument(value: unknown): value is mongo.Document {
  return (
    typeof value === 'object' &&
    value !== null &&
    PLAIN_PROTOTYPES.includes(Object.getPrototypeOf(value)) &&
    !('_bsontype' in value)
  );
}

/** Whether the value has no parts and can be compared with a stored one. Code and references cannot be compared. */
export function isLeaf(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return typeof value !== 'function' && typeof value !== 'symbol';
  }
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return LEAF_CLASSES.some((leaf) => value instanceof leaf) || isOfType(LEAF_TYPES, value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || isOfType(NUMBER_TYPES, value);
}

export function isRegularExpression(value: unknown): boolean {
  return value instanceof RegExp || bsonTypeOf(value) === 'BSONRegExp';
}

/** The first key of a document. MongoDB uses it to distinguish a condition from a value. */
export function firstKey(value: unknown): string | undefined {
  return isDocument(value) ? Object.keys(value)[0] : undefined;
}

export function startsWithOperator(value: unknown): boolean {
  return firstKey(value)?.startsWith('$') === true;
}

/** The path of the field `key` within the field at the path `within`, in the notation of filters: `data.price`. */
export function pathTo(within: string, key: string): string {
  return within === '' ? key : `${within}.${key}`;
}

/** Whether the path leads to a hidden field or into one. */
export function isHidden(path: string): boolean {
  const names = namesIn(path);
  return HIDDEN.some((hidden) => hidden.every((name, index) => names[index] === name));
}

/** Whether the path leads to a document that contains a hidden field. */
export function holdsHidden(path: string): boolean {
  const names = namesIn(path);
  const isWithin = (hidden: string[]) =>
    names.length < hidden.length && names.every((name, index) => hidden[index] === name);
  return names.length > 0 && HIDDEN.some(isWithin);
}

/** The error sentence about a hidden field, with its key and its place in the filter. */
export function hidden(key: string, path: string, at: string): string {
  const why =
    namesIn(path)[0] === 'emailkey'
      ? 'is a field that the service keeps for itself; write "data.email" to filter by e-mail.'
      : 'is a password hash, which no filter may use; write another field, such as "data.email".';
  return `"${shown(key)}" ${at} ${why}`;
}

/** The error sentence about a comparison by order with a whole document that contains a hidden field. */
export function wholeCompared(path: string, at: string): string {
  return `"${shown(path)}" ${at} is compared by order as a whole, with the password hash in it; compare one field, as in {"data.price": {"$gt": 5}}.`;
}

function isOfType(types: string[], value: unknown): boolean {
  const type = bsonTypeOf(value);
  return type !== undefined && types.includes(type);
}

/** The names in a path, without array indexes. */
function namesIn(path: string): string[] {
  return path.split('.').filter((name) => !NUMBER.test(name));
}
