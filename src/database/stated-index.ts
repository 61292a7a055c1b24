import mongoose, { type mongo } from 'mongoose';
import { SharedReads } from '../common/index.js';
import { keyOf, lastServing, type ListedIndexes, listedIndexesOf, ownName } from './missing-indexes.js';
import { type AnyModel, modelsOf } from './models.js';

/** The fields of an index, in their order. */
export type IndexFields = Readonly<Record<string, 1 | -1>>;

/** A collection, as the driver or as Mongoose gives it. */
type Place = { collectionName: string } & ({ db: mongo.Db } | { conn: mongoose.Connection });

const BAD_VALUE = 2;
/** The hinted index cannot serve a query, such as a partial one, or the bounds are not of its fields. */
const UNSUITABLE = new Set([291, 51174]);

/** The index that a query hints does not exist, or is hidden. */
export class IndexMissingError extends Error {
  constructor(fields: IndexFields, collection: string) {
    super(`The index of ${collection} over ${Object.keys(fields).join(', ')} is missing`);
  }
}

/** Whether a query failed because the index that it hints is missing, or was missing at the moment of its snapshot. */
export function isIndexMissing(error: unknown): boolean {
  if (!(error instanceof mongoose.mongo.MongoServerError)) return false;
  if (UNSUITABLE.has(Number(error.code))) return true;
  return (
    error.code === BAD_VALUE &&
    error.message.includes('hint provided does not correspond to an existing index')
  );
}

const CONNECTIONS = new WeakMap<mongo.MongoClient, mongoose.Connection>();
const LOOKS = new SharedReads<ListedIndexes['serving']>();

/** From now on, queries through this connection hint the indexes of its models by their actual names. */
export function stateIndexesOf(connection: mongoose.Connection): void {
  CONNECTIONS.set(connection.getClient(), connection);
}

/**
 * Reads along the index of the service over these fields. It is stated by its name: MongoDB refuses its fields as soon as
 * another program makes a second index over them. Where it has gone, as one that was made anew under another name, the
 * indexes are looked at once more, and the read is done again if there is another name. Throws an
 * IndexMissingError where there is none.
 */
export async function alongIndex<T>(
  collection: Place,
  fields: IndexFields,
  read: (hint: string) => Promise<T>,
): Promise<T> {
  const hint = await statedIndex(collection, fields);
  try {
    return await read(hint);
  } catch (error) {
    const model = modelOf(collection);
    if (model === undefined || !isIndexMissing(error)) throw error;
    const another = (await shared(model)).get(keyOf(fields));
    if (another === undefined) throw new IndexMissingError(fields, collection.collectionName);
    if (another === hint) throw error;
    return read(another);
  }
}

/**
 * Like {@link alongIndex}, for what must go on while the index is missing, such as while it is exchanged: it is then done as
 * the planner likes. Only for what asks for a few records and does not depend on their order.
 */
export async function alongIndexIfAny<T>(
  collection: Place,
  fields: IndexFields,
  work: (along: { hint?: string }) => Promise<T>,
): Promise<T> {
  try {
    return await alongIndex(collection, fields, (hint) => work({ hint }));
  } catch (error) {
    if (error instanceof IndexMissingError || isIndexMissing(error)) return work({});
    throw error;
  }
}

/** The name of the index that {@link alongIndex} hints, for a cursor: it cannot be read again. */
export async function statedIndex(collection: Place, fields: IndexFields): Promise<string> {
  const model = modelOf(collection);
  if (model === undefined) return ownName(fields);
  const known = lastServing(model)?.get(keyOf(fields)) ?? (await shared(model)).get(keyOf(fields));
  if (known === undefined) throw new IndexMissingError(fields, model.collection.collectionName);
  return known;
}

function shared(model: AnyModel): Promise<ListedIndexes['serving']> {
  const { conn, collectionName } = model.collection;
  const key = `${conn.id} ${collectionName}`;
  return LOOKS.share(key, async () => (await listedIndexesOf(model)).serving);
}

/** Undefined for a connection whose models are unknown, such as that of a tool. */
function modelOf(collection: Place): AnyModel | undefined {
  const connection = 'conn' in collection ? collection.conn : CONNECTIONS.get(collection.db.client);
  return (
    connection &&
    modelsOf(connection).find((model) => model.collection.collectionName === collection.collectionName)
  );
}
