import mongoose, { type mongo } from 'mongoose';
import { idTextOf } from './id-text.js';
import { jsonText } from './json.js';
import type { Kind } from './record.js';

const { DBRef } = mongoose.mongo;

/** Timestamps of items have four digits for the year (contract §1). */
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** What an answer shows of a member's password hash: nothing, unless the application's settings say otherwise. */
export interface ItemOptions {
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
  if (channels !== undefined || kind === 'product') parts.push(`"channels":${jsonText(channels ?? [])}`);
  return `{${parts.join(',')}}`;
}

/** The channels of a record by any program: texts only; undefined if the record has none. */
export function channelsOf(stored: unknown): string[] | undefined {
  if (typeof stored === 'string') return [stored];
  return Array.isArray(stored) ? stored.filter((channel) => typeof channel === 'string') : undefined;
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
  if (kind === 'product' || options.withPasswordHash || !('passwordhash' in data)) return jsonText(data);
  const shown = { ...data };
  delete shown['passwordhash'];
  return jsonText(shown);
}

/** The driver makes a reference of each document with `$ref` and `$id`; all other documents are plain objects. */
function isDocument(data: unknown): data is mongo.Document {
  return typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype;
}
