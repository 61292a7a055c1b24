import mongoose, { type mongo } from 'mongoose';
import { jsonText, READ_FOR_JSON, updateItemText } from '../../../../src/record/index.js';
import type { ItemShape } from '../../../../src/replication/transcode/index.js';
import type { Value } from './raw-bson.js';

const { BSON } = mongoose.mongo;
const READ = { ...READ_FOR_JSON, validation: { utf8: false } };

/** The text of an item the plain way: through the driver's objects; none of a record that cannot be delivered. */
export function plainText({ bytes }: Value, shape: ItemShape): string {
  const record = BSON.deserialize(bytes, READ);
  if (!isDeliverable(record)) return '';
  if (shape.item === 'delete') return deleteItemText(record);
  if (!('kind' in shape)) return deleteChangeText(record, shape.item);
  const item = updateItemText(shape.kind, record, shape);
  return shape.item === 'upsert' ? item.replace('{', '{"op":"upsert",') : item;
}

/** The texts of items, joined as in a page. */
export function plainTexts(records: Value[], shape: ItemShape): string {
  const texts = records.map((record) => plainText(record, shape));
  return texts.filter((text) => text !== '').join(',');
}

/** Contract §4: a record of an application has its names as texts, an `id` that is one, and a date as stamp. */
export function isDeliverable({ organizationid, appid, id, lastupdated }: mongo.Document): boolean {
  const isTextOrMissing = (name: unknown) => name === undefined || typeof name === 'string';
  return (
    typeof id === 'string' &&
    lastupdated instanceof Date &&
    isTextOrMissing(organizationid) &&
    isTextOrMissing(appid)
  );
}

function deleteItemText({ id, lastupdated }: mongo.Document): string {
  return `{"id":${jsonText(id)},"lastUpdated":${jsonText(lastupdated)}}`;
}

function deleteChangeText({ id, lastupdated }: mongo.Document, reason: string): string {
  const stamped = `"id":${jsonText(id)},"lastupdated":${jsonText(lastupdated)}`;
  return `{"op":"delete",${stamped},"reason":"${reason}"}`;
}
