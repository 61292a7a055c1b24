import mongoose, { type mongo } from 'mongoose';
import { literal } from '../common/index.js';
import {
  CLOCK,
  FUTURE_TOLERANCE_MS,
  isUnfit,
  type PastValidator,
  pastValidator,
  type SingleWrite,
  writeEach,
} from '../database/plain.js';
import { writeUnlessHeld } from './held.js';

const { BSON } = mongoose.mongo;

const STAMPED = ['lastupdated'];

const NEXT_OF_OWN = { $add: ['$lastupdated', 1] };

/** Before it a timestamp would need more than four digits for the year (contract §1). */
export const EARLIEST = new Date('0000-01-01T00:00:00.000Z');

/** Whether the record's stamp is a date and not in the future, as an aggregation expression. */
export const HAS_GOOD_STAMP = {
  $and: [
    { $eq: [{ $type: '$lastupdated' }, 'date'] },
    { $gte: ['$lastupdated', EARLIEST] },
    { $lte: ['$lastupdated', { $add: [CLOCK, FUTURE_TOLERANCE_MS] }] },
  ],
};

/**
 * The new `lastupdated`, as an aggregation expression for the same atomic update as the change: the greater of the
 * clock and the record's own stamp + 1 ms. A stamp that is not a date or lies in the future is replaced without looking
 * at it, else it would drag itself along for ever.
 */
export const STAMP = { $cond: [HAS_GOOD_STAMP, { $max: [CLOCK, NEXT_OF_OWN] }, CLOCK] };

/** A record with more doubles than this keeps the rest; its stamp is right all the same, since the first one counts. */
const MOST_REMOVED = 100;

/** BSON types. */
const OF_DOCUMENT = 3;
const OF_ARRAY = 4;

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
interface StampedAnew {
  stamped: number;
  refused: Unstamped[];
  /** Those that another program's transaction holds. */
  held: mongo.ObjectId[];
}

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

/** {@link STAMP}, and above a fence: the expression for whatever came too late for somebody. */
export function stampAbove(fence: Date | undefined): mongo.Document {
  return fence === undefined ? STAMP : { $max: [STAMP, literal(justAbove(fence))] };
}

/** Whether a stored stamp is bad or not above the fence, as an aggregation expression. */
export function needsStamp(fence: Date | undefined): mongo.Document {
  const isBad = { $not: [HAS_GOOD_STAMP] };
  return fence === undefined ? isBad : { $or: [isBad, { $lte: ['$lastupdated', literal(fence)] }] };
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
type StampingOptions = PastValidator & { session?: mongo.ClientSession; maxTimeMS?: number };

/** Which records are written, with what stamp. */
interface DoubledWrite {
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

function justAbove(fence: Date): Date {
  return new Date(fence.getTime() + 1);
}

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
