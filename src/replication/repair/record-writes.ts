import { Logger } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { refusalsIn } from '../../database/index.js';
import { RecordsHeldError, writeUnlessHeld } from '../../record/index.js';

/** The update of one record, by its `_id`. */
export interface RecordWrite {
  updateOne: { filter: mongo.Document & { _id: mongo.ObjectId }; update: mongo.Document | mongo.Document[] };
}

const log = new Logger('Watcher');

/**
 * Writes into records of other programs, in any order, and answers which of the writes ran into a unique index. A
 * record that cannot take its write, since it is full or its collection forbids it, stays as it is and is logged: it
 * must not stop the watcher. Throws a RecordsHeldError for those that another program's transaction holds.
 */
export async function writeRecords(
  collection: mongo.Collection,
  writes: RecordWrite[],
): Promise<Set<number>> {
  if (writes.length === 0) return new Set();
  const duplicates = new Set<RecordWrite>();
  const held = await writeUnlessHeld(writes, async (some, maxTimeMS) => {
    const writing = collection.bulkWrite(some, { ordered: false, maxTimeMS });
    for (const { index, isDuplicate, message } of await writing.then(() => [], refusalsIn)) {
      const write = some[index]!;
      if (isDuplicate) duplicates.add(write);
      else
        log.warn(
          `${String(write.updateOne.filter._id)} of ${collection.collectionName} cannot be repaired: ${message}`,
        );
    }
  });
  if (held.length > 0) throw new RecordsHeldError(held.map(({ updateOne }) => updateOne.filter._id));
  return new Set(writes.flatMap((write, index) => (duplicates.has(write) ? [index] : [])));
}
