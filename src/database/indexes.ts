import type mongoose from 'mongoose';
import { FatalError, Places } from '../common/index.js';
import { isDatabaseAway, isDuplicateKey } from './errors.js';
import { UNTIL_BUILT } from './index-build.js';
import { duplicatesSentence, listsSentence, type RefusedIndex } from './index-faults.js';
import { indexName, inTheWaySentence, type MissingIndex, missingIndexesOf } from './missing-indexes.js';
import { type AnyModel, modelsOf } from './models.js';

/** Another program has made the very same index and given it a name of its own. */
const SAME_UNDER_OTHER_NAME = 85;
const LISTS_IN_TWO_FIELDS = 171;

/** MongoDB itself builds no more at a time over collections that hold anything. */
const COLLECTIONS_AT_A_TIME = 3;

/** Takes note of an index that the server refuses to make. */
type Refused = (index: MissingIndex, error: unknown) => void;

/**
 * Makes every index that the schemas name, for the start; those that stand already cost nothing. Where one is refused all
 * others are made first. Throws a FatalError where an operator has to help.
 */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  const places = new Places(COLLECTIONS_AT_A_TIME);
  const made = await Promise.allSettled(
    modelsOf(connection).map(async (model) => {
      const missing = await missingIndexesOf(model);
      if (missing.length > 0) await places.during(new AbortController().signal, () => makeOrExplain(missing));
    }),
  );
  const errors = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => error instanceof FatalError) ?? errors[0];
}

async function makeOrExplain(missing: MissingIndex[]): Promise<void> {
  const refusals: Parameters<Refused>[] = [];
  await makeMissing(missing, (...refusal) => refusals.push(refusal));
  const [still] = await missingIndexesOf(missing[0]!.model);
  if (still !== undefined) refusals.push([still, new Error(`The index ${indexName(still)} cannot be made`)]);
  if (refusals[0] === undefined) return;
  const sentence = await refusalOf(...refusals[0]);
  throw sentence === undefined ? refusals[0][1] : new FatalError(`${sentence}, then start again.`);
}

/**
 * Makes missing indexes of one collection with one command, for which the server reads the collection once. Where it
 * refuses them, they are made one by one: so it tells which it refuses, and makes the others. Throws where the database
 * does not answer.
 */
export async function makeMissing(missing: MissingIndex[], refused: Refused): Promise<void> {
  const absent = missing.filter(({ hidden }) => hidden === undefined);
  const isMade = absent.length > 1 && (await areMadeTogether(absent));
  for (const index of isMade ? missing.filter(({ hidden }) => hidden !== undefined) : missing)
    await makeIndex(index).catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      refused(index, error);
    });
}

/** False where the server refuses one of them: then it has made none. */
async function areMadeTogether(indexes: MissingIndex[]): Promise<boolean> {
  const { collection } = indexes[0]!.model;
  const all = indexes.map(({ fields, options }) => ({ ...options, key: fields }));
  return collection.createIndexes(all, { ...UNTIL_BUILT }).then(
    () => true,
    (error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      return false;
    },
  );
}

/** Makes one, or shows it again where it is only hidden. Throws what the database throws. */
async function makeIndex({ model, fields, options, hidden }: MissingIndex): Promise<void> {
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
export async function refusalOf(missing: MissingIndex, error: unknown): Promise<string | undefined> {
  const { model, fields, options } = missing;
  const about: mongoose.mongo.Document = options.partialFilterExpression ?? {};
  const index: RefusedIndex = { model, keys: Object.keys(fields), about };
  if (isDuplicateKey(error)) return duplicatesSentence(index);
  if (codeOf(error) === LISTS_IN_TWO_FIELDS) return listsSentence(index);
  return inTheWaySentence(missing);
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
