import mongoose, { type mongo } from 'mongoose';
import { jsonText, READ_FOR_JSON, updateItemText } from '../../../../../src/record/index.js';
import type { ItemShape } from '../../../../../src/replication/feed/bytes/index.js';
import type { Value } from './raw-bson.js';

const { BSON } = mongoose.mongo;
const READ = { ...READ_FOR_JSON, validation: { utf8: false } };

/** The text of an item the plain way: through the driver's objects. */
export function plainText({ bytes }: Value, shape: ItemShape): string {
  const record = BSON.deserialize(bytes, READ);
  return shape.item === 'delete' ? deleteItemText(record) : updateItemText(shape.kind, record, shape);
}

function deleteItemText({ id, lastupdated }: mongo.Document): string {
  return `{"id":${jsonText(id)},"lastUpdated":${jsonText(lastupdated)}}`;
}
