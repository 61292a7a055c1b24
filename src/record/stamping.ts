import type { mongo } from 'mongoose';
import { isUnfit } from '../database/index.js';
import { single, stampDoubled } from './doubled.js';
import { RecordsHeldError, writeUnlessHeld } from './held.js';
import { stampAbove } from './stamp.js';

/** How documents are stamped anew. */
export interface Stamping {
  /** What has to be true of each at the very moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
}

/** What is told of a document that cannot take a stamp, since it is full or its collection forbids it. */
type Leave = (id: mongo.ObjectId, error: Error) => void;

/**
 * Stamps documents anew and answers how many. Those of one write have one `$$NOW`, so it should be given 1,000 at most. A
 * single one that cannot take a stamp makes all of a write fail, which is halved until that one is alone: it is left. Throws
 * a RecordsHeldError for those that another program's transaction holds, once all others are stamped.
 */
export async function stampAnew(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamping: Stamping,
  leave: Leave,
): Promise<number> {
  let stamped = 0;
  const held = await writeUnlessHeld(ids, async (some, maxTimeMS) => {
    stamped += await stampFitting(collection, some, { ...stamping, maxTimeMS }, leave);
  });
  if (held.length > 0) throw new RecordsHeldError(held);
  return stamped;
}

/** How long a write may take on the server (milliseconds). */
type Bounded = Stamping & { maxTimeMS: number };

async function stampFitting(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamping: Bounded,
  leave: Leave,
): Promise<number> {
  try {
    return await stampTogether(collection, ids, stamping);
  } catch (error) {
    if (!isUnfit(error)) throw error;
    if (ids.length === 1) {
      leave(ids[0]!, error);
      return 0;
    }
    const half = Math.ceil(ids.length / 2);
    const first = await stampFitting(collection, ids.slice(0, half), stamping, leave);
    return first + (await stampFitting(collection, ids.slice(half), stamping, leave));
  }
}

async function stampTogether(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence, maxTimeMS }: Bounded,
): Promise<number> {
  const { matchedCount, modifiedCount } = await collection.updateMany(
    { $and: [{ _id: { $in: ids } }, where, single('lastupdated')] },
    [{ $set: { lastupdated: stampAbove(fence) } }],
    { maxTimeMS },
  );
  if (matchedCount === ids.length) return modifiedCount;
  return (
    modifiedCount + (await stampDoubled(collection, { ids, names: ['lastupdated'], where, fence, maxTimeMS }))
  );
}
