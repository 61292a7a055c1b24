import { Logger } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { type Refusal, refusalsIn } from '../../database/index.js';

/** The update of one record, by its `_id`. */
export interface RecordWrite {
  updateOne: { filter: mongo.Document & { _id: mongo.ObjectId }; update: mongo.Document | mongo.Document[] };
}

const log = new Logger('Watcher');

/**
 * Writes into records of other programs, in any order, and answers which of the writes ran into a unique index. A
 * record that cannot take its write, since it is full or its collection forbids it, stays as it is and is logged: it
 * must not stop the watcher.
 */
export async function writeRecords(
  collection: mongo.Collection,
  writes: RecordWrite[],
): Promise<Set<number>> {
  if (writes.length === 0) return new Set();
  const refused = await collection
    .bulkWrite(writes, { ordered: false })
    .then((): Refusal[] => [], refusalsIn);
  for (const { index, isDuplicate, message } of refused) {
    const _id = writes[index]?.updateOne.filter._id;
    if (!isDuplicate)
      log.warn(`${String(_id)} of ${collection.collectionName} cannot be repaired: ${message}`);
  }
  return new Set(refused.filter(({ isDuplicate }) => isDuplicate).map(({ index }) => index));
}
