import type { mongo } from 'mongoose';
import { type RestampGap, type RestampNote, RESTAMPS } from './restamp-note.schema.js';

const READ_MS = 5000;

/** Documents of one collection, by their `_id`. */
export interface Stamped {
  collection: string;
  ids: mongo.ObjectId[];
}

/** The newest notes in which one of these documents stands, newest first, without their `_id`s. */
export async function restampsOf(
  db: mongo.Db,
  stamped: Stamped[],
  limit: number,
): Promise<Omit<RestampNote, 'ids' | 'expires'>[]> {
  const branches = stamped.flatMap(({ collection, ids }) => ids.map((id) => ({ ids: id, collection })));
  if (branches.length === 0) return [];
  const options = {
    sort: { at: -1 },
    limit,
    projection: { ids: 0, expires: 0 },
    maxTimeMS: READ_MS,
  } as const;
  return db.collection<RestampNote>(RESTAMPS).find({ $or: branches }, options).toArray();
}

/** The newest times in which not everything was noted, newest first. Notes have no text as their `_id`. */
export async function restampGaps(db: mongo.Db, limit: number): Promise<Omit<RestampGap, 'expires'>[]> {
  const options = { sort: { _id: -1 }, limit, projection: { expires: 0 }, maxTimeMS: READ_MS } as const;
  return db
    .collection<RestampGap>(RESTAMPS)
    .find({ _id: { $type: 'string' } }, options)
    .toArray();
}
