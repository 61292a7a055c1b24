import type mongoose from 'mongoose';
import { FatalError } from '../common/index.js';
import { isDuplicateKey } from './errors.js';
import { duplicatesSentence, listsSentence, type RefusedIndex } from './index-faults.js';
import { modelsOf } from './models.js';

/** Another program has made the very same index and given it a name of its own. */
const SAME_UNDER_OTHER_NAME = 85;
const OTHER_UNDER_SAME_NAME = 86;
const LISTS_IN_TWO_FIELDS = 171;

/** Makes every index that the schemas name; those that exist already cost nothing. */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  for (const model of modelsOf(connection)) {
    for (const [fields, options] of model.schema.indexes()) {
      const about = options.partialFilterExpression ?? {};
      const index = { model, keys: Object.keys(fields), about };
      const make = () =>
        model.collection.createIndex(
          fields as mongoose.mongo.IndexSpecification,
          options as mongoose.mongo.CreateIndexesOptions,
        );
      await made(make, index).catch((error: unknown) => explain(index, error));
    }
  }
}

/** Duplicates of the service's own making are settled; while that lasts, writers may make new ones. */
async function made(make: () => Promise<unknown>, { model, keys }: RefusedIndex): Promise<void> {
  for (;;) {
    try {
      await make();
      return;
    } catch (error) {
      if (!isDuplicateKey(error) || !(await model.settleDuplicates?.(keys))) throw error;
    }
  }
}

/** Passes over what does no harm; throws one clear message where an operator has to help. */
async function explain(index: RefusedIndex, error: unknown): Promise<void> {
  if (isDuplicateKey(error)) throw new FatalError(await duplicatesSentence(index));
  const { code, message } = error as mongoose.mongo.MongoServerError;
  if (code === SAME_UNDER_OTHER_NAME) return;
  if (code === LISTS_IN_TWO_FIELDS) throw new FatalError(await listsSentence(index));
  if (code !== OTHER_UNDER_SAME_NAME) throw error;
  throw new FatalError(
    `An index of ${index.model.collection.collectionName} is in the way of one that this service needs. Drop it, then ` +
      `start again. MongoDB says: ${message}`,
  );
}
