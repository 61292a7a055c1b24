import mongoose, { type mongo } from 'mongoose';
import { doubledNameIn } from '../../record/index.js';

const { parseToElements, ByteUtils } = mongoose.mongo.BSON.onDemand;

/** A text begins with its length and ends with a NUL (bytes). */
const BEFORE_TEXT = 4;
const AFTER_TEXT = 1;

/** By `id`, a name that stands more than once in the record. The records are read as the bytes they are. */
export async function doubledAmong(
  collection: mongo.Collection,
  query: mongo.Document,
  options: mongo.FindOptions,
): Promise<Map<string, string>> {
  const doubled = new Map<string, string>();
  const records = collection.find(query, { ...options, raw: true }) as unknown as AsyncIterable<Uint8Array>;
  for await (const record of records) {
    const name = doubledNameIn(record);
    if (name !== undefined) doubled.set(idIn(record), name);
  }
  return doubled;
}

/** The first `id`, which counts for MongoDB too. The query has found it, so it is a text. */
function idIn(record: Uint8Array): string {
  for (const [, nameAt, nameLength, at, length] of parseToElements(record)) {
    if (ByteUtils.toUTF8(record, nameAt, nameAt + nameLength, false) !== 'id') continue;
    return ByteUtils.toUTF8(record, at + BEFORE_TEXT, at + length - AFTER_TEXT, false);
  }
  return '';
}
