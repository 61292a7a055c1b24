import { isDeepStrictEqual } from 'node:util';
import mongoose, { type mongo } from 'mongoose';
import { SharedReads } from '../common/index.js';

const BAD_VALUE = 2;
/**
 * The hinted index cannot serve the query, for example because it is partial, or because it does not have the fields of
 * the query's `min` and `max`.
 */
const UNSUITABLE = new Set([291, 51174]);

const CONNECTIONS = new WeakMap<mongo.MongoClient, mongoose.Connection>();
const LISTINGS = new SharedReads<ListedIndexes['serving']>();

const NO_COLLECTION = 26;
const BY_ID = { _id: 1 };

const SERVING = new WeakMap<AnyModel, ListedIndexes['serving']>();

/** The fields of an index, in their order. */
export type IndexFields = Readonly<Record<string, 1 | -1>>;

/** A collection of the driver or of Mongoose. */
type AnyCollection = { collectionName: string } & ({ db: mongo.Db } | { conn: mongoose.Connection });

/** The index that a query hints does not exist, or is hidden. */
export class IndexMissingError extends Error {
  constructor(fields: IndexFields, collection: string) {
    super(`The index of ${collection} over ${Object.keys(fields).join(', ')} is missing`);
  }
}

/**
 * Whether a query failed because the index that it hints is missing, cannot serve it, or was missing at the moment of
 * its snapshot.
 */
export function isIndexMissing(error: unknown): boolean {
  if (!(error instanceof mongoose.mongo.MongoServerError)) return false;
  if (UNSUITABLE.has(Number(error.code))) return true;
  return (
    error.code === BAD_VALUE &&
    error.message.includes('hint provided does not correspond to an existing index')
  );
}

/** Registers a connection: its queries then hint the indexes of its models by their actual names. */
export function stateIndexesOf(connection: mongoose.Connection): void {
  CONNECTIONS.set(connection.getClient(), connection);
}

/**
 * Reads along the service's index over these fields. The hint is the index's name: MongoDB refuses a hint by fields
 * if another program creates a second index over them. If the named index is missing, for example because it was
 * created again under another name, the indexes are listed again and the read is repeated with the new name. Throws
 * an IndexMissingError if there is no such index.
 */
export async function alongIndex<T>(
  collection: AnyCollection,
  fields: IndexFields,
  read: (hint: string) => Promise<T>,
): Promise<T> {
  const hint = await statedIndex(collection, fields);
  try {
    return await read(hint);
  } catch (error) {
    const model = modelOf(collection);
    if (model === undefined || !isIndexMissing(error)) throw error;
    const another = (await shared(model)).get(servedBy(model, fields));
    if (another === undefined) throw new IndexMissingError(fields, collection.collectionName);
    if (another === hint) throw error;
    return read(another);
  }
}

/**
 * Like {@link alongIndex}, for work that must continue while the index is missing, for example while it is being
 * replaced. It then runs without a hint. Use it only for queries of a few records that do not depend on their order.
 */
export async function alongIndexIfAny<T>(
  collection: AnyCollection,
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

/** The name of the index that {@link alongIndex} hints, for a cursor, whose read cannot be repeated. */
export async function statedIndex(collection: AnyCollection, fields: IndexFields): Promise<string> {
  const model = modelOf(collection);
  if (model === undefined) return ownName(fields);
  const known =
    lastServing(model)?.get(servedBy(model, fields)) ?? (await shared(model)).get(servedBy(model, fields));
  if (known === undefined) throw new IndexMissingError(fields, model.collection.collectionName);
  return known;
}

/** An index of a schema that queries cannot use: it does not exist, or is hidden from them. */
export interface MissingIndex {
  model: AnyModel;
  fields: Record<string, number>;
  options: mongoose.mongo.CreateIndexesOptions;
  /** Its name, if it exists and is only hidden. */
  hidden?: string;
  /** The name of another index that prevents its creation. */
  inTheWay?: string;
}

/** An index as the server lists it. */
type Listed = mongoose.mongo.IndexDescriptionInfo & { hidden?: boolean };

/** A collection's indexes, compared with those that its schema names. */
export interface ListedIndexes {
  missing: MissingIndex[];
  /** The names of the usable indexes, by {@link keyOf} their fields. */
  serving: Map<string, string>;
  /**
   * Indexes of other programs, such as `members: theirs`, over the fields of one of the service's indexes, but with
   * other options.
   */
  others: string[];
}

/** Lists the indexes of every required collection, with one small command per collection. */
export function listedIndexes(connection: mongoose.Connection): Promise<ListedIndexes[]> {
  return Promise.all(modelsOf(connection).map(listedIndexesOf));
}

/** The same for every optional collection. Those whose indexes the server does not list, such as views, are omitted. */
export async function listedOptionalIndexes(connection: mongoose.Connection): Promise<ListedIndexes[]> {
  const listed = await Promise.allSettled(optionalModelsOf(connection).map(listedIndexesOf));
  return listed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** An index as a person reads it, such as `members: organizationid, appid, id`. */
export function indexName({ model, fields }: MissingIndex): string {
  return `${model.collection.collectionName}: ${Object.keys(fields).join(', ')}`;
}

/**
 * What an operator has to do if another index prevents the creation of one, in sentences without the final period;
 * undefined if none does.
 */
export function inTheWaySentence({ model, fields, inTheWay }: MissingIndex): string | undefined {
  if (inTheWay === undefined) return undefined;
  return (
    `The index ${inTheWay} of ${model.collection.collectionName} is not the one over ${Object.keys(fields).join(', ')} that ` +
    'the service needs. Drop it'
  );
}

/** The missing indexes of one collection. */
export async function missingIndexesOf(model: AnyModel): Promise<MissingIndex[]> {
  return (await listedIndexesOf(model)).missing;
}

export type AnyModel = mongoose.Model<mongoose.mongo.Document> & {
  /**
   * Removes duplicate values, not their documents, under a unique index over these fields, and returns true, if the
   * service itself stores these values; otherwise returns false.
   */
  settleDuplicates?: (keys: string[]) => Promise<boolean>;
  /**
   * Whether the service runs without the collection: if that is unfit or lacks an index, only its records are
   * unavailable.
   */
  isOptional?: () => boolean;
  /** The stored names of the fields of an index, if the collection stores them under other names than queries use. */
  storedFields?: (fields: IndexFields) => IndexFields;
};

/** The models without which the service cannot work. */
export function modelsOf(connection: mongoose.Connection): AnyModel[] {
  return allModels(connection).filter((model) => model.isOptional?.() !== true);
}

/** The other models. If the collection of one is unfit or lacks an index, only its records are unavailable. */
export function optionalModelsOf(connection: mongoose.Connection): AnyModel[] {
  return allModels(connection).filter((model) => model.isOptional?.() === true);
}

function allModels(connection: mongoose.Connection): AnyModel[] {
  return Object.values(connection.models) as AnyModel[];
}

function shared(model: AnyModel): Promise<ListedIndexes['serving']> {
  const { conn, collectionName } = model.collection;
  const key = `${conn.id} ${collectionName}`;
  return LISTINGS.share(key, async () => (await listedIndexesOf(model)).serving);
}

/** Undefined for a connection whose models are unknown, such as that of a tool. */
function modelOf(collection: AnyCollection): AnyModel | undefined {
  const connection = 'conn' in collection ? collection.conn : CONNECTIONS.get(collection.db.client);
  return (
    connection &&
    allModels(connection).find((model) => model.collection.collectionName === collection.collectionName)
  );
}

/** The usable indexes of the last listing; undefined before the first one. */
function lastServing(model: AnyModel): ListedIndexes['serving'] | undefined {
  return SERVING.get(model);
}

async function listedIndexesOf(model: AnyModel): Promise<ListedIndexes> {
  const wanted = model.schema.indexes();
  const listed = wanted.length === 0 ? [] : await listedOf(model);
  const found: ListedIndexes = { missing: [], serving: servingById(listed), others: [] };
  for (const [fields, options] of wanted) {
    const index = { model, fields, options } as unknown as MissingIndex;
    const same = listed.filter((one) => isSameIndex(one, index));
    const serving = same.find(({ hidden }) => hidden !== true)?.name;
    if (serving !== undefined) found.serving.set(keyOf(index.fields), serving);
    else found.missing.push({ ...index, ...obstacle(index, listed, same[0]?.name) });
    for (const one of listed)
      if (!same.includes(one) && keyOf(one.key) === keyOf(index.fields))
        found.others.push(`${model.collection.collectionName}: ${one.name}`);
  }
  SERVING.set(model, found.serving);
  return found;
}

/** Every collection has exactly one index over `_id`; in a clustered collection it may have any name. */
function servingById(listed: Listed[]): ListedIndexes['serving'] {
  const byId = listed.find(({ key }) => keyOf(key) === keyOf(BY_ID));
  return new Map(byId?.name === undefined ? [] : [[keyOf(BY_ID), byId.name]]);
}

function servedBy(model: AnyModel, fields: IndexFields): string {
  return keyOf(model.storedFields?.(fields) ?? fields);
}

/** A text that identifies the fields of an index, with their order and directions. */
function keyOf(fields: object): string {
  return JSON.stringify(Object.entries(fields));
}

/** The name that MongoDB gives to an index that is created without one. */
function ownName(fields: object): string {
  return Object.entries(fields).flat().join('_');
}

/** What prevents the creation of a missing index: it exists and is hidden, or another index has its name. */
function obstacle(
  { fields, options }: MissingIndex,
  listed: Listed[],
  hidden: string | undefined,
): Pick<MissingIndex, 'hidden' | 'inTheWay'> {
  if (hidden !== undefined) return { hidden };
  const name = options.name ?? ownName(fields);
  return listed.some((one) => one.name === name) ? { inTheWay: name } : {};
}

async function listedOf(model: AnyModel): Promise<Listed[]> {
  return model.collection.indexes().catch((error: mongoose.mongo.MongoServerError) => {
    if (error.code === NO_COLLECTION) return [];
    throw error;
  });
}

/** Whether queries can use the listed index as a wanted one, whatever its name is. */
export function isSameIndex(
  listed: Listed,
  { fields, options }: { fields: object; options: mongo.CreateIndexesOptions },
): boolean {
  const about = (one: { partialFilterExpression?: unknown }) => one.partialFilterExpression ?? null;
  return (
    keyOf(listed.key) === keyOf(fields) &&
    (listed.unique ?? false) === (options.unique ?? false) &&
    isDeepStrictEqual(about(listed), about(options)) &&
    listed.sparse !== true &&
    listed.collation === undefined
  );
}
