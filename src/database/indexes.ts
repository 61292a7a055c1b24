import type mongoose from 'mongoose';
import { FatalError } from '../common/index.js';
import { isDuplicateKey } from './errors.js';
import { UNTIL_BUILT } from './index-build.js';
import { duplicatesSentence, listsSentence, type RefusedIndex } from './index-faults.js';
import { type MissingIndex, missingIndexes } from './missing-indexes.js';
import type { AnyModel } from './models.js';

/** Another program has made the very same index and given it a name of its own. */
const SAME_UNDER_OTHER_NAME = 85;
const OTHER_UNDER_SAME_NAME = 86;
const LISTS_IN_TWO_FIELDS = 171;

/**
 * Makes every index that the schemas name, for the start; those that stand already cost nothing. Throws a FatalError where
 * an operator has to help.
 */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  for (const index of await missingIndexes(connection))
    await makeIndex(index).catch(async (error: unknown) => {
      const sentence = await refusalOf(index, error);
      throw sentence === undefined ? error : new FatalError(`${sentence}, then start again.`);
    });
}

/** Makes one, or shows it again where it is only hidden. Throws what the database throws. */
export async function makeIndex({ model, fields, options, hidden }: MissingIndex): Promise<void> {
  const { collection } = model;
  if (hidden !== undefined) {
    await model.db.db!.command({
      collMod: collection.collectionName,
      index: { name: hidden, hidden: false },
    });
    return;
  }
  const make = () => collection.createIndex(fields, { ...options, ...UNTIL_BUILT });
  await made(make, model, Object.keys(fields)).catch((error: unknown) => {
    if (codeOf(error) !== SAME_UNDER_OTHER_NAME) throw error;
  });
}

/**
 * What an operator has to do so that the index can be made, in one sentence without its end; undefined where the error is
 * of another kind. Where documents are in the way, it looks through the whole collection for them.
 */
export async function refusalOf(
  { model, fields, options }: MissingIndex,
  error: unknown,
): Promise<string | undefined> {
  const about: mongoose.mongo.Document = options.partialFilterExpression ?? {};
  const index: RefusedIndex = { model, keys: Object.keys(fields), about };
  if (isDuplicateKey(error)) return duplicatesSentence(index);
  const code = codeOf(error);
  if (code === LISTS_IN_TWO_FIELDS) return listsSentence(index);
  if (code !== OTHER_UNDER_SAME_NAME) return undefined;
  return (
    `An index of ${model.collection.collectionName} is in the way of one that this service needs ` +
    `(${(error as Error).message}). Drop it`
  );
}

/** Duplicates of the service's own making are settled; while that lasts, writers may make new ones. */
async function made(make: () => Promise<unknown>, model: AnyModel, keys: string[]): Promise<void> {
  for (;;) {
    try {
      await make();
      return;
    } catch (error) {
      if (!isDuplicateKey(error) || !(await model.settleDuplicates?.(keys))) throw error;
    }
  }
}

function codeOf(error: unknown): unknown {
  return (error as mongoose.mongo.MongoServerError).code;
}
