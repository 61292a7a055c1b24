import type mongoose from 'mongoose';
import type { mongo } from 'mongoose';
import { DeadlineError, FatalError, Semaphore, settledWithin } from '../common/index.js';
import { isDatabaseAway, isDuplicateKey } from './errors.js';
import {
  type AnyModel,
  indexName,
  inTheWaySentence,
  type MissingIndex,
  missingIndexesOf,
  modelsOf,
} from './listed-indexes.js';

/** Another program has created the same index under another name. */
const SAME_UNDER_OTHER_NAME = 85;
const LISTS_IN_TWO_FIELDS = 171;

/** MongoDB builds the indexes of at most this number of non-empty collections at a time. */
const COLLECTIONS_AT_A_TIME = 3;

const POLL_MS = 500;
/** If the server does not list a build in this many consecutive checks, the answer counts as lost. */
const MOST_POLLS_IN_VAIN = 20;
/** The command comment of builds that operators request. It distinguishes them from those that the service needs. */
export const ASKED_FOR = 'tidemark: asked for';
/** Disables the socket timeout, because a build over a large collection sends no data for longer than that. */
const UNTIL_BUILT: object = { socketTimeoutMS: 0 };

const MOST_LISTED = 20;

/** Receives an index that the server refuses to create. */
type Refused = (index: MissingIndex, error: unknown) => void;

/**
 * Creates every index that the schemas of the required collections define; called at the start of the service, and by
 * commands. Existing indexes cost nothing. If one is refused, all others are still created. Throws a FatalError if an
 * operator has to act, otherwise the database's error.
 */
export async function makeIndexes(connection: mongoose.Connection): Promise<void> {
  const places = new Semaphore(COLLECTIONS_AT_A_TIME);
  const made = await Promise.allSettled(
    modelsOf(connection).map(async (model) => {
      const missing = await missingIndexesOf(model);
      if (missing.length > 0) await places.during(new AbortController().signal, () => makeOrExplain(missing));
    }),
  );
  const errors = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => error instanceof FatalError) ?? errors[0];
}

/**
 * Creates missing indexes of one collection with one command, so that the server reads the collection once. If the
 * server refuses them, they are created one by one, to find the refused ones and to create the others. Throws if the
 * database does not answer.
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

/**
 * What prevents the index, and what an operator has to do before it can be created, in sentences without the final
 * period; undefined if the error has another cause. If documents prevent the index, this scans the whole collection for
 * them.
 */
export async function refusalOf(missing: MissingIndex, error: unknown): Promise<string | undefined> {
  const { model, fields, options } = missing;
  const about: mongoose.mongo.Document = options.partialFilterExpression ?? {};
  const index: RefusedIndex = { model, keys: Object.keys(fields), about };
  if (isDuplicateKey(error)) return duplicatesSentence(index);
  if (codeOf(error) === LISTS_IN_TWO_FIELDS) return listsSentence(index);
  return inTheWaySentence(missing);
}

export interface Watching {
  stop: AbortSignal;
  /** Receives the share of the work that is done, 0 to 1. Not called if the server does not list its operations. */
  onProgress: (share: number) => void;
}

/**
 * Creates an index that an operator requests, while reads and writes continue. Returns at once if it exists, and waits
 * for a build in progress. Returns false if `stop` is aborted first: the server then continues the build. Throws a
 * DeadlineError if the server does not list the build.
 */
export async function buildIndex(
  collection: mongo.Collection,
  key: Record<string, 1>,
  { stop, onProgress }: Watching,
): Promise<boolean> {
  const options = { comment: ASKED_FOR, ...UNTIL_BUILT };
  const made = collection.createIndex(key, options).then(() => true);
  made.catch(() => undefined);
  for (let inVain = 0; ;) {
    if ((await settledWithin(made, POLL_MS)) === true) return true;
    if (stop.aborted) return false;
    const builds = await buildsOf(collection).catch(() => undefined);
    inVain = builds?.length === 0 ? inVain + 1 : 0;
    if (inVain >= MOST_POLLS_IN_VAIN)
      throw new DeadlineError('The creation of an index that the server does not list', inVain * POLL_MS);
    const share = builds?.map(shareOf).find((one) => one !== undefined);
    if (share !== undefined) onProgress(share);
  }
}

async function makeOrExplain(missing: MissingIndex[]): Promise<void> {
  const refusals: Parameters<Refused>[] = [];
  await makeMissing(missing, (...refusal) => refusals.push(refusal));
  const [still] = await missingIndexesOf(missing[0]!.model);
  if (still !== undefined) refusals.push([still, new Error(`The index ${indexName(still)} cannot be built`)]);
  if (refusals[0] === undefined) return;
  const sentence = await refusalOf(...refusals[0]);
  throw sentence === undefined ? refusals[0][1] : new FatalError(`${sentence}, then start again.`);
}

/** Returns false if the server refuses one of them. In that case it has created none. */
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

/**
 * Creates one index, or unhides it if it is only hidden. Throws the database's error, except the one that the same
 * index exists under another name.
 */
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
 * Creates an index. If duplicate values that the service itself has stored prevent this, the surplus values are
 * removed, not their documents, and the creation is repeated, as often as writers cause new ones in the meantime.
 */
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

/** The indexes that the server is building in a database for this user, each as {@link indexName} names it. */
export async function buildsIn(db: mongo.Db): Promise<Set<string>> {
  const these = { 'command.$db': db.databaseName, 'command.createIndexes': { $exists: true } };
  const found = await running<Build>(db.client, these);
  return new Set(
    found.flatMap(({ command: { createIndexes: name, indexes } }) =>
      indexes.map(({ key }) => `${name}: ${Object.keys(key).join(', ')}`),
    ),
  );
}

interface Build {
  msg?: string;
  progress?: { done: number; total: number };
  command: { createIndexes: string; indexes: { key: object }[] };
}

/** The builds in progress on a collection, from the server's list of running operations. */
function buildsOf({ db, namespace, collectionName }: mongo.Collection): Promise<Build[]> {
  return running(db.client, { ns: namespace, 'command.createIndexes': collectionName });
}

/** Operations of this user. Those of other users need the right `inprog`. */
function running<T extends mongo.Document>(client: mongo.MongoClient, these: mongo.Document): Promise<T[]> {
  return client
    .db('admin')
    .aggregate<T>([{ $currentOp: {} }, { $match: these }], { readConcern: { level: 'local' } })
    .toArray();
}

/** A build first reads all documents, then writes all keys. Each phase counts as half. */
function shareOf({ msg = '', progress }: Build): number | undefined {
  if (progress === undefined || progress.total <= 0) return undefined;
  const half = progress.done / progress.total / 2;
  return Math.min(1, msg.includes('scanning') ? half : 1 / 2 + half);
}

/** An index that MongoDB refuses because of existing documents. */
interface RefusedIndex {
  model: AnyModel;
  keys: string[];
  /** The documents that the index covers (partialFilterExpression). */
  about: mongoose.mongo.Document;
}

interface Group {
  key: Record<string, unknown>;
  count: number;
  isListed: boolean;
}

/**
 * What to do about several documents with the same key, in sentences without the final period. Names the keys, and the
 * `_id`s if a key is not a string or is an element of an array.
 */
async function duplicatesSentence(index: RefusedIndex): Promise<string> {
  const { model, keys } = index;
  const groups = await duplicates(index);
  const found = await Promise.all(groups.map((group) => described(index, group)));
  return (
    `The collection ${model.collection.collectionName} has several documents with the same ${keys.join(', ')}, ` +
    `which must be unique: ${found.join('; ')}. Remove or rename the surplus ones`
  );
}

/** The same for documents with arrays in two fields of the index. Names their `_id`s. */
async function listsSentence({ model, keys, about }: RefusedIndex): Promise<string> {
  const lists = keys.map((key) => ({ $cond: [{ $isArray: `$${key}` }, 1, 0] }));
  const found = await idsOf(model, { ...about, $expr: { $gt: [{ $sum: lists }, 1] } });
  return (
    `The collection ${model.collection.collectionName} has documents with lists in several of the fields ` +
    `${keys.join(', ')}, which MongoDB cannot index: _id ${found}. Store one value instead of a list in ` +
    'each of these fields, or remove the documents'
  );
}

/** A unique index treats the elements of an array as separate keys, and a missing field as null. */
async function duplicates({ model, keys, about }: RefusedIndex): Promise<Group[]> {
  const key = Object.fromEntries(keys.map((name) => [name, { $ifNull: [`$${name}`, null] }]));
  const isListed = { $or: keys.map((name) => ({ $isArray: `$${name}` })) };
  return model.collection
    .aggregate<Group>(
      [
        { $match: about },
        { $project: { ...Object.fromEntries(keys.map((name) => [name, 1])), isListed } },
        ...keys.map((name) => ({ $unwind: { path: `$${name}`, preserveNullAndEmptyArrays: true } })),
        { $group: { _id: { key, document: '$_id' }, isListed: { $first: '$isListed' } } },
        { $group: { _id: '$_id.key', count: { $sum: 1 }, isListed: { $max: '$isListed' } } },
        { $match: { count: { $gt: 1 } } },
        { $limit: MOST_LISTED },
        { $project: { _id: 0, key: '$_id', count: 1, isListed: 1 } },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

async function described({ model, keys, about }: RefusedIndex, group: Group): Promise<string> {
  const { key, count, isListed } = group;
  const sentence = `${keys.map((name) => String(key[name])).join('/')} (${count} times)`;
  const isText = keys.every((name) => typeof key[name] === 'string');
  if (isText && !isListed) return sentence;
  const same = keys.map((name) => ({ [name]: { $eq: key[name] } }));
  return `${sentence}, _id ${await idsOf(model, { $and: [about, ...same] })}`;
}

async function idsOf(model: AnyModel, filter: mongoose.mongo.Document): Promise<string> {
  const found = await model.collection.find(filter, { projection: { _id: 1 }, limit: MOST_LISTED }).toArray();
  return found.map(({ _id }) => JSON.stringify(_id)).join(', ');
}
