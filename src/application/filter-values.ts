import mongoose from 'mongoose';

const { mongo } = mongoose;

const LEAF_CLASSES = [
  ...[Date, RegExp, Uint8Array],
  ...[mongo.ObjectId, mongo.BSONRegExp, mongo.Binary, mongo.Timestamp, mongo.MinKey, mongo.MaxKey],
  ...[mongo.Decimal128, mongo.Long, mongo.Double, mongo.Int32],
];
const NUMBER_CLASSES = [mongo.Decimal128, mongo.Long, mongo.Double, mongo.Int32];
const PLAIN_PROTOTYPES: unknown[] = [Object.prototype, null];

/** Whether the value is a document of keys and values, and not one BSON value that is an object in JavaScript only. */
export function isDocument(value: unknown): value is mongoose.mongo.Document {
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
  return LEAF_CLASSES.some((leaf) => value instanceof leaf);
}

export function isNumber(value: unknown): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    NUMBER_CLASSES.some((number) => value instanceof number)
  );
}

export function isRegularExpression(value: unknown): boolean {
  return value instanceof RegExp || value instanceof mongo.BSONRegExp;
}

/** The first key of a document: by it MongoDB tells a condition from a value. */
export function firstKey(value: unknown): string | undefined {
  return isDocument(value) ? Object.keys(value)[0] : undefined;
}

export function startsWithOperator(value: unknown): boolean {
  return firstKey(value)?.startsWith('$') === true;
}
