import type { mongo } from 'mongoose';
import { bsonTypeOf } from '../record/pure.js';

const LEAF_CLASSES = [Date, RegExp, Uint8Array];
/** To the driver a timestamp is a number of 64 bits; where MongoDB wants another number, it refuses it itself. */
const NUMBER_TYPES = ['Decimal128', 'Long', 'Double', 'Int32', 'Timestamp'];
const LEAF_TYPES = [...NUMBER_TYPES, 'ObjectId', 'BSONRegExp', 'Binary', 'MinKey', 'MaxKey'];
const PLAIN_PROTOTYPES: unknown[] = [Object.prototype, null];

/** Whether the value is a document of keys and values, and not one BSON value that is an object in JavaScript only. */
export function isDocument(value: unknown): value is mongo.Document {
  return (
    typeof value === 'object' &&
    value !== null &&
    PLAIN_PROTOTYPES.includes(Object.getPrototypeOf(value)) &&
    !('_bsontype' in value)
  );
}

/** Whether the value has no parts and can be compared with a stored one. Code and references cannot. */
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

/** The first key of a document: by it MongoDB tells a condition from a value. */
export function firstKey(value: unknown): string | undefined {
  return isDocument(value) ? Object.keys(value)[0] : undefined;
}

export function startsWithOperator(value: unknown): boolean {
  return firstKey(value)?.startsWith('$') === true;
}

function isOfType(types: string[], value: unknown): boolean {
  const type = bsonTypeOf(value);
  return type !== undefined && types.includes(type);
}
