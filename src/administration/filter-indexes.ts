import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import { type Filter, indexAdvice, type IndexKey, partsOf } from '../application/plain.js';
import { FatalError } from '../platform/common/index.js';
import { buildIndex, statedIndex, type Watching } from '../platform/database/plain.js';
import { recordsIn, termsOf, bsonTypeOf, type Tenant } from '../record/index.js';
import type { Kind } from '../kinds/index.js';
import { type ChangeContext, recordAction } from './changes.js';
import { refusalOf } from './filter-trial.js';
import { Allowance, withPlace, type Place, together } from './preview/place.js';

const PLAN_MS = 30_000;
/**
 * MongoDB's error codes for an existing index that conflicts with the one to build, such as the same key with other options.
 */
const IN_THE_WAY = new Set([85, 86]);

/** The index that would serve a filter. */
export interface IndexProposal {
  name: string;
  collection: string;
  key: IndexKey;
  /** It exists already, or is being built. */
  exists: boolean;
  /** MongoDB does not use it for queries. */
  isHidden: boolean;
  /** The number of records that it covers: all records of the kind, of all applications. */
  records: number;
}

/**
 * Explains how MongoDB finds the records that a filter matches; undefined if it does not answer in time. Throws 400 if
 * MongoDB refuses the filter.
 */
export async function filterPlan(
  db: mongo.Db,
  of: Tenant & { kind: Kind },
  filter: Filter,
): Promise<FilterPlan | undefined> {
  try {
    return await withPlace(db, of, undefined, (place) => planOf(place, filter, new Allowance(PLAN_MS)));
  } catch (error) {
    throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/** The index that would serve a filter; undefined if none would. */
export async function proposedIndex(
  db: mongo.Db,
  kind: Kind,
  filter: Filter,
): Promise<IndexProposal | undefined> {
  const key = adviceFor(kind, filter);
  if (key === undefined) return undefined;
  const collection = recordsIn(db, kind);
  const existing = await existingIndex(collection, key);
  return {
    ...{ key, collection: collection.collectionName },
    name: existing?.name ?? Object.entries(key).flat().join('_'),
    exists: existing !== undefined,
    isHidden: (existing as { hidden?: boolean } | undefined)?.hidden === true,
    records: await collection.estimatedDocumentCount(),
  };
}

/**
 * Builds the index with {@link buildIndex}, and returns what that returns. It is not an index of the service: feeds
 * never hint it, and it is never recreated.
 */
export async function makeFilterIndex(
  changeContext: ChangeContext,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  { key, name, collection }: IndexProposal,
  watching: Watching,
): Promise<boolean> {
  const isMade = await buildIndex(recordsIn(changeContext.db, kind), key, watching).catch(
    (error: mongo.MongoServerError) => {
      if (!IN_THE_WAY.has(Number(error.code))) throw error;
      throw new FatalError(
        `The index ${name} of ${collection} exists with other fields or options. Drop it first.`,
      );
    },
  );
  const target = `index ${name} of ${collection}`;
  await recordAction(changeContext, { action: 'index.make', organizationid, appid, target });
  return isMade;
}

/** The key of the index that would serve a filter, with the names of the stored fields; undefined if none would. */
function adviceFor(kind: Kind, filter: Filter): IndexKey | undefined {
  const key = indexAdvice(filter);
  return key && (termsOf(kind)?.keys(key) ?? key);
}

/** How MongoDB finds the records that match a filter. */
export interface FilterPlan {
  /** Names of the indexes that the plan uses. */
  indexes: string[];
  /** Whether no index serves the filter, so that every record of the application and kind is read. */
  readsEveryRecord: boolean;
  /** The index to build; null if an index serves the filter, if no index would serve it, or if that index exists already. */
  advice: IndexKey | null;
}

/** The key of the index over all records of an application. */
const ALL_OF_TENANT = { organizationid: 1, appid: 1, _id: 1 } as const;
/** The fields that every query filters by. */
const OF_TENANT = new Set(['organizationid', 'appid']);
const UNBOUNDED = ['[MinKey, MaxKey]', '[MaxKey, MinKey]'];
/** Parts of the explain output that contain no stages of the winning plan. */
const NOT_CHOSEN = new Set(['rejectedPlans', 'parsedQuery', 'indexBounds']);
const NO_COLLECTION = 26;
/** NoQueryExecutionPlans: the hinted index, such as a partial one, cannot serve the query. */
const NO_PLAN = 291;

/**
 * Asks the server how it would count the matching records; undefined if it does not answer in time. First, the count
 * along each index is explained separately. The count is explained without a hint only if an index serves the filter,
 * or if the filter contains `$or`: the server then tries all indexes on up to a third of the collection, which takes
 * longer than the count itself if no index serves the filter and few records match.
 */
export async function planOf(place: Place, filter: Filter, time: Allowance): Promise<FilterPlan | undefined> {
  const indexes = await indexesOf(place.records);
  const names = indexes.map(({ name }) => name).filter((name) => name !== undefined);
  const each = await together(
    place,
    names.map((name) => explained(place, filter, time, name)),
  );
  const serving = names.filter((_name, index) => each[index]?.readsEveryRecord === false);
  if (serving.length > 0 || usesOr(filter)) {
    const chosen = (await explained(place, filter, time)) ?? servedBy(serving);
    if (chosen?.readsEveryRecord === false) return { ...chosen, advice: null };
  }
  if (each.includes(undefined)) return undefined;
  const all = await statedIndex(place.records, ALL_OF_TENANT);
  const key = adviceFor(place.kind, filter);
  const isUseless = key === undefined || indexes.some((one) => isSameKey(one.key, key));
  return { indexes: [all], readsEveryRecord: true, advice: isUseless ? null : key };
}

/** The index with exactly this key, if it exists. */
async function existingIndex(
  records: mongo.Collection,
  key: IndexKey,
): Promise<mongo.IndexDescriptionInfo | undefined> {
  return (await indexesOf(records)).find((one) => isSameKey(one.key, key));
}

async function indexesOf(records: mongo.Collection): Promise<mongo.IndexDescriptionInfo[]> {
  return records.indexes().catch((error: mongo.MongoServerError) => {
    if (error.code === NO_COLLECTION) return [];
    throw error;
  });
}

function isSameKey(one: object, other: object): boolean {
  return isDeepStrictEqual(Object.entries(one), Object.entries(other));
}

type Chosen = Omit<FilterPlan, 'advice'>;

/** Explains the count, with a hint if one is given. */
function explained(
  { records, tenant, session }: Place,
  filter: Filter,
  time: Allowance,
  hint?: string,
): Promise<Chosen | undefined> {
  const stages = [{ $match: { $and: [tenant, filter] } }, { $group: { _id: 1, n: { $sum: 1 } } }];
  const counting = records.aggregate(stages, { session, ...(hint !== undefined && { hint }) });
  const explain = (limit: { maxTimeMS: number }) => counting.explain({ verbosity: 'queryPlanner', ...limit });
  return time
    .ask(explain)
    .then((said) => said && planIn(said))
    .catch((error: mongo.MongoServerError) => {
      const isOfIndex = error.code === NO_PLAN || /\bhint\b/.test(error.message);
      if (hint !== undefined && isOfIndex) return { indexes: [hint], readsEveryRecord: true };
      throw error;
    });
}

/** The plan along the first serving index, for a server that does not choose one in time. */
function servedBy([first]: string[]): Chosen | undefined {
  return first === undefined ? undefined : { indexes: [first], readsEveryRecord: false };
}

function usesOr(filter: Filter): boolean {
  return partsOf(filter).some(({ place }) => place.includes('$or['));
}

/** Reads the plan from the server's explain output. */
export function planIn(explained: mongo.Document): Chosen {
  const stages = stagesIn(explained);
  const scans = stages.filter(({ indexName }) => indexName !== undefined);
  const readsEveryRecord =
    stages.some(({ stage }) => stage === 'COLLSCAN') ||
    !scans.every(({ indexBounds }) => isNarrow(indexBounds));
  return { indexes: [...new Set(scans.map(({ indexName }) => indexName!))], readsEveryRecord };
}

interface Stage {
  stage?: string;
  indexName?: string;
  indexBounds?: mongo.Document;
}

/** All stages of the winning plan, at any depth: servers and their versions nest them differently. */
function stagesIn(value: unknown): Stage[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) => (NOT_CHOSEN.has(name) ? [] : stagesIn(part)));
  return 'stage' in value ? [value as Stage, ...inner] : inner;
}

/**
 * Whether the bounds exclude some of the application's records. Most stages have intervals for each field; a count
 * along an index has a start key and an end key.
 */
function isNarrow(bounds: mongo.Document = {}): boolean {
  const { startKey, endKey, ...intervals } = bounds as Record<string, unknown>;
  if (isDocument(startKey) && isDocument(endKey))
    return Object.keys(startKey).some(
      (field) => !OF_TENANT.has(field) && !isWhole(startKey[field], endKey[field]),
    );
  return Object.entries(intervals).some(
    ([field, several]) =>
      !OF_TENANT.has(field) && !UNBOUNDED.some((all) => isDeepStrictEqual(several, [all])),
  );
}

function isWhole(start: unknown, end: unknown): boolean {
  return [bsonTypeOf(start), bsonTypeOf(end)].sort().join() === 'MaxKey,MinKey';
}

function isDocument(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
