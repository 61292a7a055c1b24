import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import { type Filter, indexAdvice, type IndexKey } from '../../application/index.js';
import { bsonTypeOf } from '../../record/index.js';
import type { Allowance } from './allowance.js';
import type { Place } from './place.js';

/** How MongoDB finds the records that match a filter. */
export interface FilterPlan {
  /** Names of the indexes that it goes along. */
  indexes: string[];
  /** Whether no index serves the filter: every record of the application and kind is read. */
  readsEveryRecord: boolean;
  /** The index to make; null where the filter is served, where no index would serve it, and where that one stands already. */
  advice: IndexKey | null;
}

/** The fields that every query names. */
const OF_TENANT = new Set(['organizationid', 'appid']);
const UNBOUNDED = ['[MinKey, MaxKey]', '[MaxKey, MinKey]'];
/** What else stands in the server's answer. */
const NOT_CHOSEN = new Set(['rejectedPlans', 'parsedQuery', 'indexBounds']);
const NO_COLLECTION = 26;

/** Asks the server how it would count the records that match; undefined where it has no time to say. */
export async function planOf(place: Place, filter: Filter, time: Allowance): Promise<FilterPlan | undefined> {
  const { records, tenant, session } = place;
  const stages = [{ $match: { $and: [tenant, filter] } }, { $group: { _id: 1, n: { $sum: 1 } } }];
  const explained = await time.ask((limit) =>
    records.aggregate(stages, { session }).explain({ verbosity: 'queryPlanner', ...limit }),
  );
  if (explained === undefined) return undefined;
  const { indexes, readsEveryRecord } = planIn(explained);
  const key = readsEveryRecord ? indexAdvice(filter) : undefined;
  const stands = key !== undefined && (await standingIndex(records, key)) !== undefined;
  return { indexes, readsEveryRecord, advice: key === undefined || stands ? null : key };
}

/** The index over these fields, if there is one. */
export async function standingIndex(
  records: mongo.Collection,
  key: IndexKey,
): Promise<mongo.IndexDescriptionInfo | undefined> {
  const listed = await records.indexes().catch((error: mongo.MongoServerError) => {
    if (error.code === NO_COLLECTION) return [];
    throw error;
  });
  return listed.find((one) => isDeepStrictEqual(Object.entries(one.key), Object.entries(key)));
}

/** The plan in what the server explains. */
export function planIn(explained: mongo.Document): Omit<FilterPlan, 'advice'> {
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
