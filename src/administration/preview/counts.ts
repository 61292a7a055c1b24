import type { Filter } from '../../application/index.js';
import type { ServiceVersion } from '../service-versions.js';
import { textOf } from '../../platform/common/index.js';
import { idTextOf } from '../../record/index.js';
import { type Conditions, conditionsOf } from './conditions.js';
import { Allowance, type Place, together } from './place.js';
import {
  type Counted,
  COUNTED,
  estimated,
  type Group,
  sampleRecords,
  type Sample,
  SHOWN_IDS,
} from './sample.js';

/** Time limit for the ids of records that do not match, in ms. They may be hard to find if nearly all records match. */
const OTHERS_MS = 1500;
/**
 * Reading every record takes this many times as long as counting along an index. If it cannot finish in time, all of the
 * time is left to the estimate.
 */
const READING_COST = 10;
const NONE: Known = { count: 0, ids: [] };

/** What a filter does to the records of one application and kind. */
export interface PreviewCounts {
  /** Null, like every count, if the time ran out. */
  records: number | null;
  matching: Group;
  others: Group;
  /** If a version is in force: records that would start to match, and records that would stop matching. */
  entering: Group | undefined;
  leaving: Group | undefined;
  /** If a version is in force: records that match before and after, and that would show a field differently. */
  concerned: Group | undefined;
  /** The number of records that are re-stamped, so that consumers receive the change. */
  restamps: number | null;
  /** Set if some counts are estimates: each is accurate to within this many records in 95 of 100 cases. */
  error: number | undefined;
  /** The time ran out before everything was found: a count is null, or a non-empty group has no ids. */
  isCutOff: boolean;
}

/** Time limits of the exact counts, and of the estimate of the remaining ones. */
export interface Effort {
  exactMs: number;
  estimateMs: number;
  /** The number of records in the sample. */
  sampleSize: number;
}

/** The indexes for finding the records that match the filter, and those that match the filter in force. */
interface StatedIndexes {
  filter: StatedIndex | undefined;
  inForce: StatedIndex | undefined;
}

interface Found {
  records: number | undefined;
  known: Partial<Record<Counted, Known>>;
  otherIds: string[] | undefined;
  sample?: Sample<string> | undefined;
}

/**
 * Counts the records that match, that do not match, that enter, that leave, and that show other fields. Estimates
 * counts that take too long.
 */
export async function countsOf(
  place: Place,
  wanted: ServiceVersion,
  inForce: ServiceVersion | undefined,
  { stated, ...effort }: Effort & { stated: StatedIndexes },
): Promise<PreviewCounts> {
  const conditions = conditionsOf(wanted, inForce);
  const time = new Allowance(effort.exactMs + effort.estimateMs);
  const exact = await countExactly(place, conditions, effort.exactMs, stated);
  const found = await withSample(place, conditions, exact, { size: effort.sampleSize, time });
  return countsIn(found, inForce !== undefined);
}

async function countExactly(
  place: Place,
  conditions: Conditions,
  exactMs: number,
  { filter, inForce }: StatedIndexes,
): Promise<Found> {
  const time = new Allowance(exactMs);
  const names = COUNTED.filter((name) => name in conditions);
  const statedFor = (name: Counted) => (name === 'leaving' ? inForce : filter);
  const groups = () =>
    together(
      place,
      names.map((name) => countGroup(place, conditions[name]!, { time, stated: statedFor(name) })),
    );
  const begun = performance.now();
  const all = countAll(place, time);
  const isHopeless = () => (performance.now() - begun) * READING_COST > exactMs;
  const isAllRead = names.every((name) => statedFor(name)?.serves === false);
  const stated = isAllRead ? filter : undefined;
  const [records, otherIds, counted] = await together(place, [
    all,
    firstIds(place, conditions.others, { time, stated, idsMs: OTHERS_MS }),
    isAllRead ? all.then(() => (isHopeless() ? names.map(() => ({})) : groups())) : groups(),
  ]);
  const known = COUNTED.map((name) => [name, counted[names.indexOf(name)] ?? NONE] as const);
  return { records, otherIds, known: Object.fromEntries(known) };
}

/** Estimates the unknown counts from a sample. Estimates nothing if the total cannot be counted in the time left. */
async function withSample(
  place: Place,
  conditions: Conditions,
  found: Found,
  { size, time }: { size: number; time: Allowance },
): Promise<Found> {
  const unknown = COUNTED.filter((name) => found.known[name]?.count === undefined);
  if (unknown.length === 0 && found.records !== undefined) return found;
  const records = found.records ?? (await countAll(place, time));
  if (unknown.length === 0 || records === undefined) return { ...found, records };
  const names = [...unknown, 'others' as const];
  const wanted = Object.fromEntries(names.map((name) => [name, conditions[name]!]));
  return { ...found, records, sample: await sampleRecords(place, wanted, { records, size, time }) };
}

function countsIn(found: Found, isChange: boolean): PreviewCounts {
  const { records = null, otherIds, sample } = found;
  const matching = groupOf('matching', found);
  const moved = MOVED.map((name) => groupOf(name, found));
  const [entering, leaving, concerned] = isChange ? moved : [];
  const others: Group = {
    ...matching,
    count: records === null || matching.count === null ? null : Math.max(0, records - matching.count),
    ids: otherIds ?? sample?.groups['others']?.ids ?? [],
  };
  const restamps = isChange ? restampsOf(found, moved) : { count: 0 };
  const counts = [matching, ...(isChange ? moved : [])];
  const errors = [...counts, restamps].map(({ error = 0 }) => error);
  return {
    ...{ records, matching, others, restamps: restamps.count },
    ...{ entering, leaving, concerned },
    error: Math.max(...errors) || undefined,
    isCutOff: records === null || [...counts, others].some(isIncomplete),
  };
}

function groupOf(name: Counted, { records, known, sample }: Found): Group {
  const { count, ids } = known[name] ?? {};
  const inSample = sample?.groups[name];
  const shown = ids ?? inSample?.ids ?? [];
  if (count !== undefined) return { count, ids: shown };
  if (inSample === undefined || records === undefined) return { count: null, ids: shown };
  return { ...shownEstimate(estimated(inSample.hits, sample!.examined, records)), ids: shown };
}

/** The groups of records that are re-stamped. */
const MOVED = ['entering', 'leaving', 'concerned'] as const;

/** The groups are disjoint, so the estimated ones are counted in the sample as one group. */
function restampsOf({ records, known, sample }: Found, moved: Group[]): Omit<Group, 'ids'> {
  const unknown = MOVED.filter((name) => known[name]?.count === undefined);
  const hits = unknown.flatMap((name) => sample?.groups[name]?.hits ?? []);
  if (unknown.length > 0 && hits.length === unknown.length && records !== undefined) {
    const all = estimated(sum(hits), sample!.examined, records);
    return shownEstimate({ ...all, count: all.count + sum(MOVED.map((name) => known[name]?.count ?? 0)) });
  }
  const counts = moved.map(({ count }) => count);
  return { count: counts.every((count) => count !== null) ? sum(counts) : null };
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** A sample of all records gives an exact count. */
function shownEstimate({ count, error }: { count: number; error: number }): Omit<Group, 'ids'> {
  return error === 0 ? { count } : { count, error };
}

/** An estimated group is complete: it shows the ids that the sample contains, if any. */
function isIncomplete({ count, ids, error }: Group): boolean {
  return count === null || (error === undefined && count > 0 && ids.length === 0);
}

type Limit = { maxTimeMS: number };

/** Above this count, the query for the first ids has no hint: with one, MongoDB would have to sort all matches. */
const MANY = 1000;

/** What was found of a group within the time limit. */
interface Known {
  count?: number | undefined;
  ids?: string[] | undefined;
}

/** Counts all records of the place along an index, without reading any record: 0.2 s for a million. */
function countAll({ records, tenant, session }: Place, time: Allowance): Promise<number | undefined> {
  return time.ask((limit) => records.countDocuments(tenant, { ...limit, session }));
}

/** The index to use: one that serves the condition, or the one over all records of the application. */
export interface StatedIndex {
  hint: string;
  serves: boolean;
}

/** The time limit of a search for a group, and the index to use if it is known. */
interface Search {
  time: Allowance;
  /** Time limit for the ids in ms, if it is shorter. */
  idsMs?: number;
  stated: StatedIndex | undefined;
}

/**
 * Counts the records that fulfil a condition, and finds the first ids. The index is stated, because MongoDB would first try
 * all indexes on up to a third of the collection if there are few matches. Only the query for the ids of many records has no
 * hint.
 */
async function countGroup(place: Place, condition: Filter, search: Search): Promise<Known> {
  if (search.stated?.serves !== true) return idsBeforeCount(place, condition, search);
  const count = await countOf(place, condition, search);
  if (count === undefined) return {};
  const stated = count > MANY ? undefined : search.stated;
  return { count, ids: count === 0 ? [] : await firstIds(place, condition, { ...search, stated }) };
}

/** Without an index that serves the condition, every record is read. Reads them only once if there are few matches. */
async function idsBeforeCount(place: Place, condition: Filter, search: Search): Promise<Known> {
  const ids = await firstIds(place, condition, search);
  if (ids === undefined) return {};
  if (ids.length < SHOWN_IDS) return { count: ids.length, ids };
  return { ids, count: await countOf(place, condition, search) };
}

function countOf(
  { records, tenant, session }: Place,
  condition: Filter,
  { time, stated }: Search,
): Promise<number | undefined> {
  const query = { $and: [tenant, condition] };
  const count = (limit: Limit) => records.countDocuments(query, { session, ...hinted(stated), ...limit });
  return time.ask(count).catch(ifIndexIsGone);
}

/** Sorted by `_id`. */
async function firstIds(
  { records, tenant, session }: Place,
  condition: Filter,
  search: Search,
): Promise<string[] | undefined> {
  const wanted = { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, session } as const;
  const find = (limit: Limit) =>
    records.find({ $and: [tenant, condition] }, { ...wanted, ...hinted(search.stated), ...limit }).toArray();
  const found = await search.time.ask(find, search.idsMs).catch(ifIndexIsGone);
  return found?.map(({ id }) => idTextOf(id) ?? textOf(id));
}

function hinted(stated: StatedIndex | undefined): { hint?: string } {
  return stated === undefined ? {} : { hint: stated.hint };
}

/** The index may have been dropped meanwhile. The result is then unknown, as after a timeout. */
function ifIndexIsGone(error: unknown): undefined {
  if (!(error instanceof Error) || !/\bhint\b/.test(error.message)) throw error;
}
