import type { mongo } from 'mongoose';
import { literal } from '../common/index.js';
import type { PastValidator } from '../database/index.js';
import { needsStamp, stampAbove } from './stamp.js';

/** A record with more doubles than this keeps the rest; its stamp is right all the same, since the first one counts. */
const MOST_REMOVED = 100;

/**
 * BSON allows a name to stand twice in one document, and some writers make such records. For MongoDB the first one
 * counts. An update with a pipeline that changes a doubled name ends some versions of mongod, again and again, or is
 * refused; updates with operators do no harm. So every pipeline that writes into records of other programs asks for
 * {@link single} names in its own condition, and what is doubled is written with operators.
 */
function timesOf(name: string, input: unknown = '$$ROOT'): mongo.Document {
  const names = { $map: { input: { $objectToArray: input }, in: '$$this.k' } };
  return { $size: { $filter: { input: names, cond: { $eq: ['$$this', literal(name)] } } } };
}

/** The query of records in which none of these names stands more than once. */
export function single(...names: string[]): mongo.Document {
  return { $expr: { $and: names.map((name) => ({ $lte: [timesOf(name), 1] })) } };
}

/** The expression that is true where no name of a path, from the top of the record down, stands more than once. */
export function isSingleAlong(path: string[]): mongo.Document {
  const conditions = path.map((name, depth) => {
    const place = path.slice(0, depth).reduce<unknown>(fieldOf, '$$ROOT');
    const isDocument = { $eq: [{ $type: place }, 'object'] };
    return { $cond: [isDocument, { $lte: [timesOf(name, place), 1] }, true] };
  });
  return { $and: conditions };
}

/** The query of records in which one of these names stands more than once. */
export function doubled(...names: string[]): mongo.Document {
  return { $nor: [single(...names)] };
}

/** Of a write of stamps: its session, how long it may take on the server (milliseconds), and whether the validator is asked. */
export type StampingOptions = PastValidator & { session?: mongo.ClientSession; maxTimeMS?: number };

/** Which records are written, with what stamp. */
export interface DoubledWrite {
  ids: mongo.ObjectId[];
  /** The names that a pipeline would have changed. */
  names: string[];
  /** What else has to be true of a record at the very moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
  /** Fields beside the stamp, the same for each record. */
  set?: mongo.Document;
  options?: StampingOptions;
}

/**
 * Stamps anew, with operators, those of the records that have a doubled name, and answers how many. The stamp comes from
 * the database's clock as in every other way, a moment before the write; a stored one that is better by then stays. A
 * doubled `lastupdated` becomes single.
 */
export async function stampDoubled(collection: mongo.Collection, write: DoubledWrite): Promise<number> {
  const { ids, names, where = {}, fence, set, options = {} } = write;
  const { session, maxTimeMS } = options;
  const reading = { ...(session && { session }), ...(maxTimeMS !== undefined && { maxTimeMS }) };
  const found = await collection
    .aggregate<{ _id: mongo.ObjectId; stamp: Date; times: number }>(
      [
        { $match: { $and: [{ _id: { $in: ids } }, where, doubled(...names)] } },
        { $project: { stamp: stampAbove(fence), times: timesOf('lastupdated') } },
      ],
      reading,
    )
    .toArray();
  if (found.length === 0) return 0;
  const writes = found.flatMap(({ _id, stamp, times }) => [
    ...Array.from({ length: Math.min(times - 1, MOST_REMOVED) }, () => removal(_id)),
    {
      updateOne: {
        filter: { $and: [{ _id }, where, { $expr: needsStamp(justBefore(stamp)) }] },
        update: { $set: { ...set, lastupdated: stamp } },
      },
    },
  ]);
  await collection.bulkWrite(writes, options);
  return found.length;
}

function fieldOf(input: unknown, name: string): mongo.Document {
  return { $getField: { field: literal(name), input } };
}

function removal(_id: mongo.ObjectId): mongo.AnyBulkWriteOperation {
  return {
    updateOne: {
      filter: { $and: [{ _id }, doubled('lastupdated')] },
      update: { $unset: { lastupdated: '' } },
    },
  };
}

function justBefore(stamp: Date): Date {
  return new Date(stamp.getTime() - 1);
}
