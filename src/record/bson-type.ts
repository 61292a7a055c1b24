import type { mongo } from 'mongoose';

/**
 * The name of the BSON class that a value is of, such as `Int32`, whichever copy of the class it is; nothing for what is
 * of none. A stored field named `_bsontype` is its document's own, while classes have theirs on the prototype.
 */
export function bsonTypeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, '_bsontype')) return undefined;
  return (value as { _bsontype?: string })._bsontype;
}

/** Whether a value can be the `_id` of a record (contract §4). */
export function isObjectId(value: unknown): value is mongo.ObjectId {
  return bsonTypeOf(value) === 'ObjectId';
}
