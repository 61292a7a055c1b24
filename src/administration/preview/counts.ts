import { serialize } from 'bson';
import type { Filter } from '../../application/index.js';
import { idTextOf } from '../../record/index.js';
import { Allowance, type Place, together } from './place.js';
import {
  type Counted,
  COUNTED,
  estimated,
  type Group,
  lookAtSome,
  type Sample,
  SHOWN_IDS,
} from './sample.js';

/** The ids of those that do not match may be hard to find where nearly all match (milliseconds). */
const OTHERS_MS = 1500;
/**
 * To read every record takes so many times as long as to count it along an index: where that cannot be done in time, all of
 * the time is left to the estimate.
 */
const READING_COST = 10;
const NONE: Known = { count: 0, ids: [] };

/** What a filter does to the records of one application and kind. */
export interface PreviewCounts {
  /** Null, as every count, where there was no time to find out. */
  records: number | null;
  matching: Group;
  others: Group;
  /** Beside the filter in force, where there is one: who would begin to match, and who would cease to. */
  entering: Group | undefined;
  leaving: Group | undefined;
  /** How many records are stamped anew, so that consumers are told. */
  restamps: number | null;
  /** Some counts are estimates, each right to this many records in 95 of 100 cases; undefined where all are exact. */
  error: number | undefined;
  /** The time was over before all of it was found: a count is null, or a group that is not empty has no ids. */
  isCutOff: boolean;
}

/** For how long it may count, and how it estimates what it has not counted by then. */
export interface Effort {
  exactMs: number;
  estimateMs: number;
  /** The number of records in the sample. */
  sampleSize: number;
}

/** Along which index what matches the filter is found, and what matches the one in force. */
interface StatedIndexes {
  filter: StatedIndex | undefined;
  inForce: StatedIndex | undefined;
}

/** Without entering and leaving if there is no filter to compare with, or no record does either. */
type Conditions = Partial<Record<Counted, Filter>> & { others: Filter };

interface Found {
  records: number | undefined;
  known: Partial<Record<Counted, Known>>;
  otherIds: string[] | undefined;
  sample?: Sample<string> | undefined;
}

/** Counts who matches and who does not, who enters and who leaves; estimates what takes longer than it may. */
export async function countsOf(
  place: Place,
  filter: Filter,
  inForce: Filter | undefined,
  { stated, ...effort }: Effort & { stated: StatedIndexes },
): Promise<PreviewCounts> {
  const conditions = conditionsOf(filter, inForce);
  const time = new Allowance(effort.exactMs + effort.estimateMs);
  const exact = await exactly(place, conditions, effort.exactMs, stated);
  const found = await withSample(place, conditions, exact, { size: effort.sampleSize, time });
  return countsIn(found, inForce !== undefined);
}

/** `$nor` is what tells what does not match: it is right for fields that are missing, too. */
function conditionsOf(filter: Filter, inForce: Filter | undefined): Conditions {
  const others = { $nor: [filter] };
  if (inForce === undefined || isSame(filter, inForce)) return { matching: filter, others };
  return {
    ...{ matching: filter, others },
    entering: { $and: [filter, { $nor: [inForce] }] },
    leaving: { $and: [inForce, others] },
  };
}

async function exactly(
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

/** Estimates unknown counts from a sample; skipped when the total is unknown. */
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
  return { ...found, records, sample: await lookAtSome(place, wanted, { records, size, time }) };
}

function countsIn(found: Found, isChange: boolean): PreviewCounts {
  const { records = null, otherIds, sample } = found;
  const matching = groupOf('matching', found);
  const [entering, leaving] = [groupOf('entering', found), groupOf('leaving', found)];
  const others: Group = {
    ...matching,
    count: records === null || matching.count === null ? null : Math.max(0, records - matching.count),
    ids: otherIds ?? sample?.groups['others']?.ids ?? [],
  };
  const restamps = isChange ? restampsOf(found, entering, leaving) : { count: 0 };
  const counts = [matching, ...(isChange ? [entering, leaving] : [])];
  const errors = [...counts, restamps].map(({ error = 0 }) => error);
  return {
    ...{ records, matching, others, restamps: restamps.count },
    ...(isChange ? { entering, leaving } : { entering: undefined, leaving: undefined }),
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
  return { ...shownEstimate(estimated(inSample.hits, sample!.looked, records)), ids: shown };
}

/** No record both enters and leaves, so the two are one group in the sample. */
function restampsOf({ records, sample }: Found, entering: Group, leaving: Group): Omit<Group, 'ids'> {
  const hits = [sample?.groups['entering']?.hits, sample?.groups['leaving']?.hits];
  if (records !== undefined && hits[0] !== undefined && hits[1] !== undefined)
    return shownEstimate(estimated(hits[0] + hits[1], sample!.looked, records));
  const count = entering.count === null || leaving.count === null ? null : entering.count + leaving.count;
  const error = entering.error ?? leaving.error;
  return { count, ...(error !== undefined && { error }) };
}

/** A sample of all of them is no estimate. */
function shownEstimate({ count, error }: { count: number; error: number }): Omit<Group, 'ids'> {
  return error === 0 ? { count } : { count, error };
}

/** A sample shows whom it has found, if anybody. */
function isIncomplete({ count, ids, error }: Group): boolean {
  return count === null || (error === undefined && count > 0 && ids.length === 0);
}

/** Whether two filters are the same byte for byte: the order of keys tells documents apart. */
function isSame(one: Filter, other: Filter): boolean {
  const [bytes, others] = [one, other].map((filter) => serialize({ filter }));
  return Buffer.compare(bytes!, others!) === 0;
}

type Limit = { maxTimeMS: number };

/** The ids of more records than these are not sorted for the sake of the first of them. */
const MANY = 1000;

/** What was found out of a group in the time that there was. */
interface Known {
  count?: number | undefined;
  ids?: string[] | undefined;
}

/** Counts all records of the place, along an index and without looking at one: 0.2 s for a million. */
function countAll({ records, tenant, session }: Place, time: Allowance): Promise<number | undefined> {
  return time.ask((limit) => records.countDocuments(tenant, { ...limit, session }));
}

/** The index to go along: one that serves the condition, or the one along which all records lie. */
export interface StatedIndex {
  hint: string;
  serves: boolean;
}

/** How long a group may be looked for, and along which index, where that is known. */
interface Search {
  time: Allowance;
  /** Milliseconds for the ids, where that is less than there is. */
  idsMs?: number;
  stated: StatedIndex | undefined;
}

/**
 * Counts what fulfils a condition, and finds the first ids. The index is stated: MongoDB would try all that it has on up to a
 * third of the collection first, where there is little to be found. Only for the ids of many it is left to choose.
 */
async function countGroup(place: Place, condition: Filter, search: Search): Promise<Known> {
  if (search.stated?.serves !== true) return idsBeforeCount(place, condition, search);
  const count = await countOf(place, condition, search);
  if (count === undefined) return {};
  const stated = count > MANY ? undefined : search.stated;
  return { count, ids: count === 0 ? [] : await firstIds(place, condition, { ...search, stated }) };
}

/** Where all has to be read, it is read once if there are but few. */
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

/** In the order of their `_id`. */
async function firstIds(
  { records, tenant, session }: Place,
  condition: Filter,
  search: Search,
): Promise<string[] | undefined> {
  const wanted = { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, session } as const;
  const find = (limit: Limit) =>
    records.find({ $and: [tenant, condition] }, { ...wanted, ...hinted(search.stated), ...limit }).toArray();
  const found = await search.time.ask(find, search.idsMs).catch(ifIndexIsGone);
  return found?.map(({ id }) => idTextOf(id) ?? String(id));
}

function hinted(stated: StatedIndex | undefined): { hint?: string } {
  return stated === undefined ? {} : { hint: stated.hint };
}

/** An index that was there a moment ago may have been dropped: then this was not found out in time. */
function ifIndexIsGone(error: unknown): undefined {
  if (!(error instanceof Error) || !/\bhint\b/.test(error.message)) throw error;
}
