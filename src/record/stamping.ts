import type { mongo } from 'mongoose';
import { isUnfit, pastValidator, type SingleWrite, writeEach } from '../database/plain.js';
import { doubled, single, stampDoubled, type StampingOptions } from './doubled.js';
import { writeUnlessHeld } from './held.js';
import { stampAbove } from './stamp.js';

/** How documents are stamped anew. */
export interface Stamping {
  /** What has to be true of each at the very moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
}

/** A document that cannot take a stamp, since it is full or its collection forbids it. */
export interface Unstamped {
  _id: mongo.ObjectId;
  reason: string;
}

/** What became of documents that were to be stamped anew. */
export interface StampedAnew {
  stamped: number;
  refused: Unstamped[];
  /** Those that another program's transaction holds. */
  held: mongo.ObjectId[];
}

const STAMPED = ['lastupdated'];

/**
 * Stamps documents anew. Those of one write have one `$$NOW`, so it should be given 1,000 at most. A single one that cannot
 * take a stamp makes all of a write fail; then each is written by itself, in one more command.
 */
export async function stampAnew(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamping: Stamping,
): Promise<StampedAnew> {
  const done: StampedAnew = { stamped: 0, refused: [], held: [] };
  done.held = await writeUnlessHeld(ids, async (some, maxTimeMS) => {
    const { stamped, refused } = await stampFitting(collection, some, { ...stamping, maxTimeMS });
    done.stamped += stamped;
    done.refused.push(...refused);
  });
  return done;
}

/** How long a write may take on the server (milliseconds). */
type Bounded = Stamping & { maxTimeMS: number };
type Fitting = Omit<StampedAnew, 'held'>;

async function stampFitting(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamping: Bounded,
): Promise<Fitting> {
  try {
    const { maxTimeMS } = stamping;
    const stamped = await pastValidator((past) =>
      stampTogether(collection, ids, stamping, { ...past, maxTimeMS }),
    );
    return { stamped, refused: [] };
  } catch (error) {
    if (!isUnfit(error)) throw error;
    return stampEach(collection, ids, stamping);
  }
}

/**
 * Stamps documents anew in one write, and answers how many. A single one that cannot take a stamp makes it fail. With a
 * session it is part of its transaction.
 */
export async function stampTogether(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence }: Stamping,
  options: StampingOptions,
): Promise<number> {
  const { matchedCount, modifiedCount } = await collection.updateMany(
    { $and: [{ _id: { $in: ids } }, where, single(...STAMPED)] },
    [{ $set: { lastupdated: stampAbove(fence) } }],
    options,
  );
  if (matchedCount === ids.length) return modifiedCount;
  return modifiedCount + (await stampDoubled(collection, { ids, names: STAMPED, where, fence, options }));
}

async function stampEach(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence, maxTimeMS }: Bounded,
): Promise<Fitting> {
  const writes = ids.map((_id): SingleWrite => {
    const filter = { $and: [{ _id }, where, single(...STAMPED)] };
    return { updateOne: { filter, update: [{ $set: { lastupdated: stampAbove(fence) } }] } };
  });
  const { modified, refused } = await writeEach(collection, writes, { maxTimeMS });
  const done: Fitting = {
    stamped: modified,
    refused: refused.map(({ index, message }) => ({ _id: ids[index]!, reason: message })),
  };
  const odd = { $and: [{ _id: { $in: ids } }, where, doubled(...STAMPED)] };
  for (const { _id } of await collection.find(odd, { projection: { _id: 1 } }).toArray()) {
    const write = { ids: [_id], names: STAMPED, where, fence };
    try {
      done.stamped += await pastValidator((past) =>
        stampDoubled(collection, { ...write, options: { ...past, maxTimeMS } }),
      );
    } catch (error) {
      if (!isUnfit(error)) throw error;
      done.refused.push({ _id, reason: error.message });
    }
  }
  return done;
}
