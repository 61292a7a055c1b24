import type mongoose from 'mongoose';
import { isDeepStrictEqual } from 'node:util';
import { type AnyModel, modelsOf } from './models.js';

const NO_COLLECTION = 26;
const BY_ID = { _id: 1 };

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
  /** The names of the usable ones, by {@link keyOf} their fields. */
  serving: Map<string, string>;
  /** Indexes by other programs over the fields of one of the service's, with other options, such as `members: theirs`. */
  others: string[];
}

/** The indexes of every collection of the service. One small command for each of them. */
export function listedIndexes(connection: mongoose.Connection): Promise<ListedIndexes[]> {
  return Promise.all(modelsOf(connection).map(listedIndexesOf));
}

/** An index as a person reads it, such as `members: organizationid, appid, id`. */
export function indexName({ model, fields }: MissingIndex): string {
  return `${model.collection.collectionName}: ${Object.keys(fields).join(', ')}`;
}

/** What an operator has to do if another index prevents the creation of one. */
export function inTheWaySentence({ model, fields, inTheWay }: MissingIndex): string | undefined {
  if (inTheWay === undefined) return undefined;
  return (
    `The index ${inTheWay} of ${model.collection.collectionName} is not the one over ${Object.keys(fields).join(', ')} that ` +
    'the service needs. Drop it'
  );
}

/** The missing ones of one collection. */
export async function missingIndexesOf(model: AnyModel): Promise<MissingIndex[]> {
  return (await listedIndexesOf(model)).missing;
}

const SERVING = new WeakMap<AnyModel, ListedIndexes['serving']>();

/** The usable indexes of the last listing; undefined before the first one. */
export function lastServing(model: AnyModel): ListedIndexes['serving'] | undefined {
  return SERVING.get(model);
}

/** The indexes of one collection. */
export async function listedIndexesOf(model: AnyModel): Promise<ListedIndexes> {
  const wanted = model.schema.indexes();
  const listed = wanted.length === 0 ? [] : await listedOf(model);
  const found: ListedIndexes = { missing: [], serving: servingById(listed), others: [] };
  for (const [fields, options] of wanted) {
    const index = { model, fields, options } as unknown as MissingIndex;
    const same = listed.filter((one) => isSame(one, index));
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

/** What distinguishes the keys of an index from those of others: the order of the fields counts. */
export function keyOf(fields: object): string {
  return JSON.stringify(Object.entries(fields));
}

/** The name that MongoDB gives to an index that is created without one. */
export function ownName(fields: object): string {
  return Object.entries(fields).flat().join('_');
}

/** What prevents the creation of a missing index: it exists and is hidden, or another index has its name. */
function obstacle(
  { fields }: MissingIndex,
  listed: Listed[],
  hidden: string | undefined,
): Pick<MissingIndex, 'hidden' | 'inTheWay'> {
  if (hidden !== undefined) return { hidden };
  const name = ownName(fields);
  return listed.some((one) => one.name === name) ? { inTheWay: name } : {};
}

async function listedOf(model: AnyModel): Promise<Listed[]> {
  return model.collection.indexes().catch((error: mongoose.mongo.MongoServerError) => {
    if (error.code === NO_COLLECTION) return [];
    throw error;
  });
}

/** Whether queries can use one instead of the other, regardless of names. */
function isSame(listed: Listed, { fields, options }: MissingIndex): boolean {
  const about = (one: { partialFilterExpression?: unknown }) => one.partialFilterExpression ?? null;
  return (
    keyOf(listed.key) === keyOf(fields) &&
    (listed.unique ?? false) === (options.unique ?? false) &&
    isDeepStrictEqual(about(listed), about(options)) &&
    listed.sparse !== true &&
    listed.collation === undefined
  );
}
