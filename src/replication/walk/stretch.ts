import { mongo } from 'mongoose';
import { alongIndex, type IndexFields } from '../../database/plain.js';
import { FIRST_ID } from '../../record/index.js';

/** The server may work at one stretch for so long (milliseconds); what takes longer is tried with a shorter one. */
export const STRETCH_MS = 10_000;

/** Neighbours in the order of their `_id`, or of the `_id` of their owner. */
export interface Stretch {
  /** The last one before them; undefined where they are the first. */
  behind: mongo.ObjectId | undefined;
  /** The last of them. */
  end: mongo.ObjectId;
}

/** A stretch that was looked for, with how many it holds. */
export interface Found extends Stretch {
  count: number;
}

/** The condition on a key that a stretch fulfils. It leaves out what is not an ObjectId. */
export function inStretch({ behind, end }: Stretch): mongo.Document {
  return { ...after(behind), $lte: end };
}

/** The next stretch along a key, of at most `most` documents; nothing at the end. Without an index MongoDB chooses one. */
export async function nextStretch(
  collection: mongo.Collection,
  { key, among, along }: { key: string; among: mongo.Document; along?: IndexFields },
  { behind, most, maxTimeMS }: { behind: mongo.ObjectId | undefined; most: number; maxTimeMS: number },
): Promise<Found | undefined> {
  const stages = [
    { $match: { ...among, [key]: after(behind) } },
    { $sort: { [key]: 1 } },
    { $limit: most },
    { $group: { _id: null, count: { $sum: 1 }, end: { $max: `$${key}` } } },
  ];
  const read = (options: mongo.AggregateOptions) =>
    collection.aggregate<{ count: number; end: mongo.ObjectId }>(stages, options).toArray();
  const [found] =
    along === undefined
      ? await read({ maxTimeMS })
      : await alongIndex(collection, along, (hint) => read({ maxTimeMS, hint }));
  return found && { behind, end: found.end, count: found.count };
}

function after(behind: mongo.ObjectId | undefined): mongo.Document {
  return behind === undefined ? { $gte: FIRST_ID } : { $gt: behind };
}
