import type mongoose from 'mongoose';
import { modelsOf, type AnyModel } from './models.js';
import { FatalError } from '../common/index.js';
import { isDuplicateKey } from './errors.js';

const MOST_LISTED = 20;

/** Makes every index that the schemas name; those that exist already cost nothing. */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  for (const model of modelsOf(connection)) {
    await model.createIndexes().catch((error: unknown) => explain(model, error));
  }
}

async function explain(model: AnyModel, error: unknown): Promise<never> {
  if (!isDuplicateKey(error)) throw error;
  const { collectionName } = model.collection;
  const keys = Object.keys((error.keyPattern ?? {}) as object);
  const found = await duplicates(model, keys);
  throw new FatalError(
    `The collection ${collectionName} has several documents with the same ${keys.join(', ')}, which must be unique: ` +
      `${found.join('; ')}. Remove or rename the surplus ones, then start again.`,
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
