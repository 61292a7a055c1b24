import type mongoose from 'mongoose';
import { isDeepStrictEqual } from 'node:util';
import { type AnyModel, modelsOf } from './models.js';

const NO_COLLECTION = 26;

/** An index that a schema names and that does not serve: it does not stand, or is hidden from queries. */
export interface MissingIndex {
  model: AnyModel;
  fields: Record<string, number>;
  options: mongoose.mongo.CreateIndexesOptions;
  /** Its name where it stands and is only hidden. */
  hidden?: string;
}

/** An index as the server lists it. */
type Listed = mongoose.mongo.IndexDescriptionInfo & { hidden?: boolean };

/** Every index that the schemas name and that does not serve queries. One small command for each collection. */
export async function missingIndexes(connection: mongoose.Connection): Promise<MissingIndex[]> {
  const missing = await Promise.all(modelsOf(connection).map(missingIndexesOf));
  return missing.flat();
}

/** An index as a person reads it, such as `members: organizationid, appid, id`. */
export function indexName({ model, fields }: MissingIndex): string {
  return `${model.collection.collectionName}: ${Object.keys(fields).join(', ')}`;
}

/** The same of one collection. */
export async function missingIndexesOf(model: AnyModel): Promise<MissingIndex[]> {
  const wanted = model.schema.indexes();
  const listed = wanted.length === 0 ? [] : await listedOf(model);
  return wanted.flatMap(([fields, options]) => {
    const index = { model, fields, options } as unknown as MissingIndex;
    const same = listed.filter((one) => isSame(one, index));
    if (same.some(({ hidden }) => hidden !== true)) return [];
    const hidden = same[0]?.name;
    return [hidden === undefined ? index : { ...index, hidden }];
  });
}

async function listedOf(model: AnyModel): Promise<Listed[]> {
  return model.collection.indexes().catch((error: mongoose.mongo.MongoServerError) => {
    if (error.code === NO_COLLECTION) return [];
    throw error;
  });
}

/** Whether a query may take the one for the other, whatever its name is. */
function isSame(listed: Listed, { fields, options }: MissingIndex): boolean {
  const about = (one: { partialFilterExpression?: unknown }) => one.partialFilterExpression ?? null;
  return (
    isDeepStrictEqual(Object.entries(listed.key), Object.entries(fields)) &&
    (listed.unique ?? false) === (options.unique ?? false) &&
    isDeepStrictEqual(about(listed), about(options)) &&
    listed.sparse !== true &&
    listed.collation === undefined
  );
}
