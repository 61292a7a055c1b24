import type mongoose from 'mongoose';
import { modelsOf, type AnyModel } from './models.js';
import { FatalError } from '../common/index.js';
import { isDuplicateKey } from './errors.js';

const MOST_LISTED = 20;
/** Another program has made the very same index and given it a name of its own. */
const SAME_UNDER_OTHER_NAME = 85;
const OTHER_UNDER_SAME_NAME = 86;

/** Makes every index that the schemas name; those that exist already cost nothing. */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  for (const model of modelsOf(connection)) {
    for (const [keys, options] of model.schema.indexes()) {
      await model.collection
        .createIndex(
          keys as mongoose.mongo.IndexSpecification,
          options as mongoose.mongo.CreateIndexesOptions,
        )
        .catch((error: unknown) => explain(model, error));
    }
  }
}

/** Passes over what does no harm; throws one clear message where an operator has to help. */
async function explain(model: AnyModel, error: unknown): Promise<void> {
  if (isDuplicateKey(error)) throw new FatalError(await duplicatesSentence(model, error));
  const { code, message } = error as mongoose.mongo.MongoServerError;
  if (code === SAME_UNDER_OTHER_NAME) return;
  if (code !== OTHER_UNDER_SAME_NAME) throw error;
  throw new FatalError(
    `An index of ${model.collection.collectionName} is in the way of one that this service needs. Drop it, then ` +
      `start again. MongoDB says: ${message}`,
  );
}

async function duplicatesSentence(model: AnyModel, error: mongoose.mongo.MongoServerError): Promise<string> {
  const keys = Object.keys((error.keyPattern ?? {}) as object);
  const found = await duplicates(model, keys);
  return (
    `The collection ${model.collection.collectionName} has several documents with the same ${keys.join(', ')}, ` +
    `which must be unique: ${found.join('; ')}. Remove or rename the surplus ones, then start again.`
  );
}

async function duplicates(model: AnyModel, keys: string[]): Promise<string[]> {
  const last = keys.at(-1) ?? '_id';
  const groups = await model.collection
    .aggregate<{ _id: Record<string, unknown>; count: number }>([
      { $match: { [last]: { $type: 'string' } } },
      { $group: { _id: Object.fromEntries(keys.map((key) => [key, `$${key}`])), count: { $sum: 1 } } },
      { $match: { count: { $gt: 1 } } },
      { $limit: MOST_LISTED },
    ])
    .toArray();
  return groups.map(({ _id, count }) => `${keys.map((key) => String(_id[key])).join('/')} (${count} times)`);
}
