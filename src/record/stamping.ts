import type { mongo } from 'mongoose';
import { single, stampDoubled } from './doubled.js';
import { stampAbove } from './stamp.js';

/** How records are stamped anew. */
export interface Stamping {
  /** What has to be true of a record at the very moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
}

/**
 * Stamps records anew and answers how many. All of a call have one `$$NOW`, so it should be given 1,000 at most. A single
 * record that cannot take a stamp, since it is full or its collection forbids it, makes all of it fail.
 */
export async function stampAnew(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence }: Stamping = {},
): Promise<number> {
  const { matchedCount, modifiedCount } = await collection.updateMany(
    { $and: [{ _id: { $in: ids } }, where, single('lastupdated')] },
    [{ $set: { lastupdated: stampAbove(fence) } }],
  );
  if (matchedCount === ids.length) return modifiedCount;
  return modifiedCount + (await stampDoubled(collection, { ids, names: ['lastupdated'], where, fence }));
}
