import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;

/** How documents must be read so that {@link jsonText} loses nothing: 64-bit integers stay whole, binaries typed. */
export const READ_FOR_JSON = {
  useBigInt64: true,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/**
 * JSON text of a BSON value (contract §4): dates ISO, ObjectId hex, Decimal128 a string, 64-bit integers all their
 * digits, NaN and infinities null, binary base64.
 */
export function jsonText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : 'null';
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : objectText(value);
    case 'undefined':
    case 'function':
    case 'symbol':
      return 'null';
  }
}

function objectText(value: object): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : JSON.stringify(value);
  if ('_bsontype' in value) return bsonTypeText(value);
  return plainText(value);
}

function plainText(value: object): string {
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`);
  return `{${members.join(',')}}`;
}

/** A stored key `_bsontype` makes a plain object look like a BSON value; only the classes themselves are trusted. */
function bsonTypeText(value: object): string {
  if (value instanceof BSON.ObjectId) return JSON.stringify(value.toHexString());
  if (value instanceof BSON.Decimal128) return JSON.stringify(value.toString());
  if (value instanceof BSON.Binary) return JSON.stringify(value.toString('base64'));
  if (value instanceof BSON.Timestamp) return JSON.stringify(value.toBigInt().toString());
  if (value instanceof BSON.BSONRegExp) return JSON.stringify(`/${value.pattern}/${value.options}`);
  if (value instanceof BSON.Code) return JSON.stringify(value.code);
  if (value instanceof BSON.BSONSymbol) return JSON.stringify(value.value);
  if (value instanceof BSON.DBRef) return plainText(value.toJSON());
  if (value instanceof BSON.MinKey || value instanceof BSON.MaxKey) return 'null';
  return plainText(value);
}
