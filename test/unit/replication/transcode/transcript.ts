import { createHmac } from 'node:crypto';
import type { ShownFields } from '../../../../src/application/index.js';
import { fieldMask, type ItemShape, itemsText } from '../../../../src/replication/transcode/index.js';
import { batch, date, document, type Key, objectId, text, type Value } from './raw-bson.js';

export const ID = '6740a1b2c3d4e5f601234567';
export const PRODUCT: ItemShape = { item: 'update', kind: 'product', withPasswordHash: false };
export const MEMBER: ItemShape = { item: 'update', kind: 'member', withPasswordHash: false };
export const MEMBER_WITH_HASH: ItemShape = { item: 'update', kind: 'member', withPasswordHash: true };
export const DELETE: ItemShape = { item: 'delete' };
export const UPSERT: ItemShape = { ...PRODUCT, item: 'upsert' };
export const UPSERT_OF_MEMBER: ItemShape = { ...MEMBER, item: 'upsert' };
export const LEFT: ItemShape = { item: 'left' };
export const GONE: ItemShape = { item: 'gone' };

const KEY = Buffer.alloc(32, 7);

/** A shape that shows only some fields; hashes have the key of {@link hashOf}. */
export function shapeOf(fields: ShownFields, shape: ItemShape = PRODUCT): ItemShape {
  return { ...shape, mask: fieldMask(fields, KEY) } as ItemShape;
}

/** The hash of a value that has this canonical text. */
export function hashOf(canonical: string): string {
  return createHmac('sha256', KEY).update(canonical).digest().subarray(0, 16).toString('base64url');
}

/** Throws where bytes are not UTF-8: a decoder that repairs them would hide that the service had not. */
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of all items of some bytes that claim to be a batch. */
export function textOfBatch(documents: Uint8Array, shape: ItemShape = PRODUCT): string {
  const portions = [...itemsText(documents, shape)];
  return portions.map(({ pieces }) => DECODER.decode(Buffer.concat([...pieces]))).join(',');
}

export function textOf(record: Value, shape: ItemShape = PRODUCT): string {
  return textOfBatch(batch(record), shape);
}

export const FIELDS = {
  _id: objectId(ID),
  organizationid: text('acme'),
  appid: text('webshop'),
  id: text('A-1'),
  type: text('bundle'),
  createDate: date(Date.parse('2024-01-02T03:04:05.006Z')),
  createdBy: text('erp'),
  lastupdated: date(Date.parse('2025-03-04T05:06:07.008Z')),
  data: document([['name', text('Chair')]]),
} satisfies Record<string, Value>;

/** A record with some fields changed, left out (undefined), or added. */
export function record(changed: Record<string, Value | undefined> = {}): Value {
  const fields = Object.entries({ ...FIELDS, ...changed });
  return document(fields.filter((field): field is [string, Value] => field[1] !== undefined));
}

/** The text of a record's data that holds one value under a key. */
export function textOfValue(value: Value, key: Key = 'v'): string {
  const item = textOf(record({ data: document([[key, value]]) }));
  const start = item.indexOf(',"data":{') + ',"data":{'.length;
  return item.slice(start, -'},"channels":[]}'.length);
}
