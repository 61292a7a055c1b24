import mongoose, { type mongo } from 'mongoose';
import { literal } from '../platform/common/index.js';
import {
  CLOCK,
  FUTURE_TOLERANCE_MS,
  isUnfit,
  modifiedBefore,
  type PastValidator,
  pastValidator,
  type SingleWrite,
  writeEach,
} from '../platform/database/plain.js';
import { writeUnlessHeld } from './held.js';
import { storedName } from './records.js';

const { BSON } = mongoose.mongo;

const NEXT_OF_OWN = { $add: ['$lastupdated', 1] };

/** The earliest timestamp with a four-digit year (contract §1). */
export const EARLIEST = new Date('0000-01-01T00:00:00.000Z');

/**
 * Whether the record's stamp is a date, not before {@link EARLIEST} and, with a tolerance, not in the future, as an
 * aggregation expression.
 */
export const HAS_GOOD_STAMP = {
  $and: [
    { $eq: [{ $type: '$lastupdated' }, 'date'] },
    { $gte: ['$lastupdated', EARLIEST] },
    { $lte: ['$lastupdated', { $add: [CLOCK, FUTURE_TOLERANCE_MS] }] },
  ],
};

/**
 * The new `lastupdated`, as an aggregation expression for the same atomic update as the change: the greater of the
 * clock and the record's own stamp + 1 ms. A stamp without {@link HAS_GOOD_STAMP} is replaced by the clock; a stamp in
 * the future would otherwise persist forever.
 */
export const STAMP = { $cond: [HAS_GOOD_STAMP, { $max: [CLOCK, NEXT_OF_OWN] }, CLOCK] };

/**
 * Maximum number of duplicates of a stamp that are removed. The rest stays, but the stamp is correct, because MongoDB
 * uses the first one.
 */
const MOST_REMOVED = 100;

/** BSON type numbers. */
const OF_DOCUMENT = 3;
const OF_ARRAY = 4;

/** Options for the re-stamp of documents. */
export interface Stamping {
  /** A condition that must hold for each document at the moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
}

/** A document that cannot be stamped, because it is too large or its collection forbids it. */
export interface Unstamped {
  _id: mongo.ObjectId;
  reason: string;
}

/** The result of a re-stamp of documents. */
interface StampedAnew {
  /** Without those of a write that its time limit interrupted, because the server does not state their number. */
  stamped: number;
  refused: Unstamped[];
  /** Documents that another program's transaction holds. */
  held: mongo.ObjectId[];
}

/**
 * Re-stamps documents. All documents of one write share one `$$NOW`, so pass at most 1,000: the longer the write takes,
 * the more likely it is that the mark is raised above the new stamps before they are committed. If one of them cannot
 * be stamped, the whole write fails; each document is then written individually.
 */
export async function stampAnew(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamping: Stamping,
): Promise<StampedAnew> {
  const done: StampedAnew = { stamped: 0, refused: [], held: [] };
  done.held = await writeUnlessHeld(ids, async (some, maxTimeMS) => {
    const { stamped, refused } = await stampFitting(collection, some, { ...stamping, maxTimeMS }).catch(
      (error: unknown) => {
        done.stamped += modifiedBefore(error);
        throw error;
      },
    );
    done.stamped += stamped;
    done.refused.push(...refused);
  });
  // Without a condition on the stamp, a repeated write stamps the documents of the failed one again.
  done.stamped = Math.min(done.stamped, ids.length - done.refused.length - done.held.length);
  return done;
}

/**
 * Re-stamps documents in one write, or in two if some have a duplicate `lastupdated`, and returns their number. Fails
 * if one of them cannot be stamped. With a session, the writes are part of its transaction.
 */
export async function stampTogether(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence }: Stamping,
  options: StampingOptions,
): Promise<number> {
  const names = [storedName(collection, 'lastupdated')];
  const { matchedCount, modifiedCount } = await collection.updateMany(
    { $and: [{ _id: { $in: ids } }, where, single(...names)] },
    [{ $set: { lastupdated: stampAbove(fence) } }],
    options,
  );
  if (matchedCount === ids.length) return modifiedCount;
  return modifiedCount + (await stampDoubled(collection, { ids, names, where, fence, options }));
}

/** {@link STAMP}, but above the fence if there is one, for changes that came too late for a reader. */
export function stampAbove(fence: Date | undefined): mongo.Document {
  return fence === undefined ? STAMP : { $max: [STAMP, literal(justAbove(fence))] };
}

/** Whether a stored stamp is invalid or not above the fence, as an aggregation expression. */
export function needsStamp(fence: Date | undefined): mongo.Document {
  const isBad = { $not: [HAS_GOOD_STAMP] };
  return fence === undefined ? isBad : { $or: [isBad, { $lte: ['$lastupdated', literal(fence)] }] };
}

/** A query for records in which each of these names occurs at most once. */
export function single(...names: string[]): mongo.Document {
  return { $expr: { $and: names.map((name) => ({ $lte: [timesOf(name), 1] })) } };
}

/** An expression that is true if each name of a path, from the top of the record down, occurs at most once. */
export function isSingleAlong(path: string[]): mongo.Document {
  const conditions = path.map((name, depth) => {
    const place = path.slice(0, depth).reduce<unknown>(fieldOf, '$$ROOT');
    const isDocument = { $eq: [{ $type: place }, 'object'] };
    return { $cond: [isDocument, { $lte: [timesOf(name, place), 1] }, true] };
  });
  return { $and: conditions };
}

/** A query for records in which one of these names occurs more than once. */
export function doubled(...names: string[]): mongo.Document {
  return { $nor: [single(...names)] };
}

/**
 * Options of a write of stamps: its session, its time limit on the server (milliseconds), and whether the validator
 * is bypassed.
 */
type StampingOptions = PastValidator & { session?: mongo.ClientSession; maxTimeMS?: number };

/** The records of a write, and their new stamp. */
interface DoubledWrite {
  ids: mongo.ObjectId[];
  /** The names that a pipeline would change, as the collection stores them. */
  names: string[];
  /** A further condition that must hold for a record at the moment of its write. */
  where?: mongo.Document;
  /** The new stamp lies above it. */
  fence?: Date | undefined;
  /** Further fields to set, the same for each record. */
  set?: mongo.Document;
  options?: StampingOptions;
}

/**
 * Re-stamps those of the records that have a duplicate name, with update operators, and returns their number. As in
 * all other stamps, the time comes from the database's clock, here just before the write. A valid stored stamp that is
 * not earlier by then is kept. A duplicate `lastupdated` becomes single.
 */
export async function stampDoubled(collection: mongo.Collection, write: DoubledWrite): Promise<number> {
  const { ids, names, where = {}, fence, set, options = {} } = write;
  const { session, maxTimeMS } = options;
  const reading = { ...(session && { session }), ...(maxTimeMS !== undefined && { maxTimeMS }) };
  const name = storedName(collection, 'lastupdated');
  const projection = { stamp: stampAbove(fence), times: timesOf(name) };
  const found = await collection
    .find<{ _id: mongo.ObjectId; stamp: Date; times: number }>(
      { $and: [{ _id: { $in: ids } }, where, doubled(...names)] },
      { ...reading, projection },
    )
    .toArray();
  if (found.length === 0) return 0;
  const writes = found.flatMap(({ _id, stamp, times }) => [
    ...Array.from({ length: Math.min(times - 1, MOST_REMOVED) }, () => removal(_id, name)),
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

/** The path of the first duplicate name in raw BSON, at any depth; undefined if there is none. */
export function doubledNameIn(raw: Uint8Array): string | undefined {
  const seen = new Set<string>();
  for (const [type, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(raw)) {
    const name = BSON.onDemand.ByteUtils.toUTF8(raw, nameAt, nameAt + nameLength, false);
    if (seen.has(name)) return name;
    seen.add(name);
    const hasNames = type === OF_DOCUMENT || type === OF_ARRAY;
    const inner = hasNames ? doubledNameIn(raw.subarray(at, at + length)) : undefined;
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}

/** A re-stamp with a time limit on the server (milliseconds). */
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

async function stampEach(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  { where = {}, fence, maxTimeMS }: Bounded,
): Promise<Fitting> {
  const names = [storedName(collection, 'lastupdated')];
  const writes = ids.map((_id): SingleWrite => {
    const filter = { $and: [{ _id }, where, single(...names)] };
    return { updateOne: { filter, update: [{ $set: { lastupdated: stampAbove(fence) } }] } };
  });
  const { modified, refused } = await writeEach(collection, writes, { maxTimeMS });
  const done: Fitting = {
    stamped: modified,
    refused: refused.map(({ index, message }) => ({ _id: ids[index]!, reason: message })),
  };
  const odd = { $and: [{ _id: { $in: ids } }, where, doubled(...names)] };
  for (const { _id } of await collection.find(odd, { projection: { _id: 1 } }).toArray()) {
    const write = { ids: [_id], names, where, fence };
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

function justAbove(fence: Date): Date {
  return new Date(fence.getTime() + 1);
}

/**
 * The number of occurrences of a name. BSON allows duplicate names in a document, and some programs write such
 * records. MongoDB uses the first one. An update pipeline that changes a duplicate name crashes some versions of
 * mongod, each time it is repeated; others refuse it. Updates with operators are safe. So every pipeline that writes
 * records of other programs requires {@link single} names in its condition, and records with duplicate names are
 * written with operators.
 */
function timesOf(name: string, input: unknown = '$$ROOT'): mongo.Document {
  const names = { $map: { input: { $objectToArray: input }, in: '$$this.k' } };
  return { $size: { $filter: { input: names, cond: { $eq: ['$$this', literal(name)] } } } };
}

function fieldOf(input: unknown, name: string): mongo.Document {
  return { $getField: { field: literal(name), input } };
}

function removal(_id: mongo.ObjectId, name: string): mongo.AnyBulkWriteOperation {
  return {
    updateOne: {
      filter: { $and: [{ _id }, doubled(name)] },
      update: { $unset: { lastupdated: '' } },
    },
  };
}

function justBefore(stamp: Date): Date {
  return new Date(stamp.getTime() - 1);
}
