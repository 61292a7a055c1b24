import mongoose, { type mongo } from 'mongoose';
import { idTextOf } from './identity.js';
import { describedKind, type Kind } from '../kinds/index.js';

const { DBRef } = mongoose.mongo;

/** Timestamps of items have a four-digit year (contract §1). */
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

const { BSON } = mongoose.mongo;

/** How documents must be read so that {@link jsonText} loses nothing: 64-bit integers stay whole, binaries typed. */
export const READ_FOR_JSON = {
  useBigInt64: true,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/** Whether an answer includes a member's password hash: only if the application's settings allow it. */
interface ItemOptions {
  withPasswordHash: boolean;
}

/** The JSON text of an update item (contract §1), from a stored record read with READ_FOR_JSON. */
export function updateItemText(kind: Kind, record: mongo.Document, options: ItemOptions): string {
  const parts = [
    `"id":${jsonText(idTextOf(record['id']))}`,
    `"type":${jsonText(typeof record['type'] === 'string' ? record['type'] : kind)}`,
    `"createDate":${dateText(record['createDate'] ?? null, record['_id'] as mongo.ObjectId)}`,
    `"createdBy":${jsonText(typeof record['createdBy'] === 'string' ? record['createdBy'] : '')}`,
    `"lastupdated":${jsonText(record['lastupdated'])}`,
    `"data":${dataText(kind, record['data'], options)}`,
  ];
  const channels = channelsOf(record['channels']);
  if (channels !== undefined || describedKind(kind).alwaysHasChannels)
    parts.push(`"channels":${jsonText(channels ?? [])}`);
  return `{${parts.join(',')}}`;
}

/** The channels of a record that any program wrote: texts only; undefined if the record has none. */
export function channelsOf(stored: unknown): string[] | undefined {
  if (typeof stored === 'string') return [stored];
  return Array.isArray(stored) ? stored.filter((channel) => typeof channel === 'string') : undefined;
}

/**
 * JSON text of a BSON value (contract §4): dates ISO, ObjectId hex, Decimal128 a string, 64-bit integers all their
 * digits, NaN and infinities null, binary base64.
 */
export function jsonText(value: unknown): string {
  return valueText(value, false);
}

/**
 * The canonical JSON text of a BSON value (RFC 8785): as {@link jsonText}, with the keys in order. 64-bit integers keep all their
 * digits.
 */
export function canonicalText(value: unknown): string {
  return valueText(value, true);
}

function valueText(value: unknown, isOrdered: boolean): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : 'null';
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : objectText(value, isOrdered);
    case 'undefined':
    case 'function':
    case 'symbol':
      return 'null';
  }
}

function dateText(stored: unknown, id: mongo.ObjectId): string {
  return jsonText(stored instanceof Date && isWritable(stored) ? stored : id.getTimestamp());
}

function isWritable(date: Date): boolean {
  return date.getTime() >= EARLIEST && date.getTime() <= LATEST;
}

function dataText(kind: Kind, stored: unknown, options: ItemOptions): string {
  const data = stored instanceof DBRef ? stored.toJSON() : stored;
  if (!isDocument(data)) return '{}';
  const isHidden = describedKind(kind).isPerson && !options.withPasswordHash && 'passwordhash' in data;
  if (!isHidden) return jsonText(data);
  const shown = { ...data };
  delete shown['passwordhash'];
  return jsonText(shown);
}

/** The driver turns each document with `$ref` and `$id` into a reference; all other documents are plain objects. */
function isDocument(data: unknown): data is mongo.Document {
  return typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype;
}

function objectText(value: object, isOrdered: boolean): string {
  if (Array.isArray(value)) return `[${value.map((one) => valueText(one, isOrdered)).join(',')}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : JSON.stringify(value);
  if ('_bsontype' in value) return bsonTypeText(value, isOrdered);
  return plainText(value, isOrdered);
}

function plainText(value: object, isOrdered: boolean): string {
  const entries = Object.entries(value);
  if (isOrdered) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  const members = entries.map(([key, inner]) => `${JSON.stringify(key)}:${valueText(inner, isOrdered)}`);
  return `{${members.join(',')}}`;
}

/** A stored key `_bsontype` makes a plain object look like a BSON value; only the classes themselves are trusted. */
function bsonTypeText(value: object, isOrdered: boolean): string {
  if (value instanceof BSON.ObjectId) return JSON.stringify(value.toHexString());
  if (value instanceof BSON.Decimal128) return JSON.stringify(value.toString());
  if (value instanceof BSON.Binary) return JSON.stringify(value.toString('base64'));
  if (value instanceof BSON.Timestamp) return JSON.stringify(value.toBigInt().toString());
  if (value instanceof BSON.BSONRegExp) return JSON.stringify(`/${value.pattern}/${value.options}`);
  if (value instanceof BSON.Code) return JSON.stringify(value.code);
  if (value instanceof BSON.BSONSymbol) return JSON.stringify(value.value);
  if (value instanceof BSON.DBRef) return plainText(value.toJSON(), isOrdered);
  if (value instanceof BSON.MinKey || value instanceof BSON.MaxKey) return 'null';
  return plainText(value, isOrdered);
}
