import type { mongo } from 'mongoose';
import { jsonText } from './json.js';
import type { Kind } from './record.js';

/** What an answer shows of a member's password hash: nothing, unless the application's settings say otherwise. */
export interface ItemOptions {
  withPasswordHash: boolean;
}

/** The JSON text of an update item (contract §1), from a stored record read with READ_FOR_JSON. */
export function updateItemText(kind: Kind, record: mongo.Document, options: ItemOptions): string {
  const parts = [
    `"id":${jsonText(record['id'])}`,
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

/** The JSON text of a delete item, for records that left a filter and for tombstones alike. */
export function deleteItemText(document: mongo.Document): string {
  return `{"id":${jsonText(document['id'])},"lastUpdated":${jsonText(document['lastupdated'])}}`;
}

/** The channels of a record, whoever wrote it: texts only; nothing where the record has none. */
export function channelsOf(stored: unknown): string[] | undefined {
  if (typeof stored === 'string') return [stored];
  return Array.isArray(stored) ? stored.filter((channel) => typeof channel === 'string') : undefined;
}

function dateText(stored: unknown, id: mongo.ObjectId): string {
  return jsonText(stored instanceof Date && !Number.isNaN(stored.getTime()) ? stored : id.getTimestamp());
}

function dataText(kind: Kind, data: unknown, options: ItemOptions): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '{}';
  if (kind === 'product' || options.withPasswordHash || !('passwordhash' in data)) return jsonText(data);
  const shown: mongo.Document = { ...data };
  delete shown['passwordhash'];
  return jsonText(shown);
}
