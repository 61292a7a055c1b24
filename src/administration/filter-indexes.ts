import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import { type Filter, indexAdvice, type IndexKey, partsOf } from '../application/plain.js';
import { FatalError } from '../common/index.js';
import { buildIndex, statedIndex, type Watching } from '../database/plain.js';
import { bsonTypeOf, COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { type Desk, noteDeed } from './changes.js';
import { refusalOf } from './filter-trial.js';
import { Allowance, inPlace, type Place, together } from './preview/place.js';

const PLAN_MS = 30_000;
/** What MongoDB says of an index that differs from the one that is to be made in its options. */
const IN_THE_WAY = new Set([85, 86]);

/** The index that a filter would have. */
export interface IndexWish {
  name: string;
  collection: string;
  key: IndexKey;
  /** It stands already, or is being made. */
  stands: boolean;
  /** Queries are kept from it. */
  isHidden: boolean;
  /** The number of records that it covers: all of the kind, of all applications. */
  records: number;
}

/** How the records that a filter matches are found. Throws 400 where MongoDB refuses it. */
export async function filterPlan(
  db: mongo.Db,
  of: Tenant & { kind: Kind },
  filter: Filter,
): Promise<FilterPlan | undefined> {
  try {
    return await inPlace(db, of, undefined, (place) => planOf(place, filter, new Allowance(PLAN_MS)));
  } catch (error) {
    throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/** The index that would serve a filter; undefined where none would. */
export async function indexWish(db: mongo.Db, kind: Kind, filter: Filter): Promise<IndexWish | undefined> {
  const key = indexAdvice(filter);
  if (key === undefined) return undefined;
  const collection = db.collection(COLLECTION_OF[kind]);
  const standing = await standingIndex(collection, key);
  return {
    ...{ key, collection: collection.collectionName },
    name: standing?.name ?? Object.entries(key).flat().join('_'),
    stands: standing !== undefined,
    isHidden: (standing as { hidden?: boolean } | undefined)?.hidden === true,
    records: await collection.estimatedDocumentCount(),
  };
}

/** Builds it, as {@link buildIndex} does. It is not an index of the service: feeds never hint it, and it is never recreated. */
export async function makeFilterIndex(
  desk: Desk,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  { key, name, collection }: IndexWish,
  watching: Watching,
): Promise<boolean> {
  const isMade = await buildIndex(desk.db.collection(COLLECTION_OF[kind]), key, watching).catch(
    (error: mongo.MongoServerError) => {
      if (!IN_THE_WAY.has(Number(error.code))) throw error;
      throw new FatalError(
        `Another index over the same fields is in the way: drop ${name} of ${collection}.`,
      );
    },
  );
  const target = `index ${name} of ${collection}`;
  await noteDeed(desk, { action: 'index.make', organizationid, appid, target });
  return isMade;
}

/** How MongoDB finds the records that match a filter. */
export interface FilterPlan {
  /** Names of the indexes that it goes along. */
  indexes: string[];
  /** Whether no index serves the filter: every record of the application and kind is read. */
  readsEveryRecord: boolean;
  /** The index to make; null where the filter is served, where no index would serve it, and where that one stands already. */
  advice: IndexKey | null;
}

/** The index along which all records of an application lie. */
const ALL_OF_TENANT = { organizationid: 1, appid: 1, _id: 1 } as const;
/** The fields that every query names. */
const OF_TENANT = new Set(['organizationid', 'appid']);
const UNBOUNDED = ['[MinKey, MaxKey]', '[MaxKey, MinKey]'];
/** What else stands in the server's answer. */
const NOT_CHOSEN = new Set(['rejectedPlans', 'parsedQuery', 'indexBounds']);
const NO_COLLECTION = 26;
/** No query can go along the index that was stated, as along a partial one. */
const NO_PLAN = 291;

/**
 * Asks the server how it would count the records that match; undefined where it has no time to say. It is asked about one
 * index at a time first: left to choose, it tries all of them on up to a third of the collection, and where no index serves
 * and few match that takes longer than the count itself.
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
  const key = indexAdvice(filter);
  const stands = key === undefined || indexes.some((one) => isSameKey(one.key, key));
  return { indexes: [all], readsEveryRecord: true, advice: stands ? null : key };
}

/** The index over these fields, if there is one. */
async function standingIndex(
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

/** The plan of the count, along one index where it is stated. */
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

/** More than one of them may be; then the server chooses. */
function servedBy([first]: string[]): Chosen | undefined {
  return first === undefined ? undefined : { indexes: [first], readsEveryRecord: false };
}

function usesOr(filter: Filter): boolean {
  return partsOf(filter).some(({ place }) => place.includes('$or['));
}

/** The plan in what the server explains. */
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

/** Every stage of the plan that was chosen, however deep it stands: servers and their versions differ in that. */
function stagesIn(value: unknown): Stage[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) => (NOT_CHOSEN.has(name) ? [] : stagesIn(part)));
  return 'stage' in value ? [value as Stage, ...inner] : inner;
}

/** Whether less than all that belongs to the application is read. A count along an index is bounded by two keys. */
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
