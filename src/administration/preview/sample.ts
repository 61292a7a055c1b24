import type { mongo } from 'mongoose';
import { type Filter, isHidden, partsOf, withinElements } from '../../application/plain.js';
import { pluralOfKind } from '../../kinds/index.js';
import { count, shown, textOf } from '../../platform/common/index.js';
import type { Allowance, Place } from './place.js';
import { idTextOf } from '../../record/index.js';

/** Something in a filter that is allowed but probably not intended. */
export interface Warning {
  /** Its place in the filter, such as `$or[1].category`. */
  path: string;
  detail: string;
}

/** The fields of a record (contract §4). */
const OF_RECORDS = new Set([
  ...['_id', 'organizationid', 'appid', 'id', 'type', 'createDate', 'createdBy', 'lastupdated'],
  ...['data', 'channels'],
]);
const MOST_NAMES = 5;
const NEWEST = 10_000;
/** Time limit of one search through all records for a field, in ms. */
const LOOK_MS = 500;

/** The warnings, and the fields that no searched record has: an index over such a field would be useless. */
interface FieldWarnings {
  warnings: Warning[];
  missing: Set<string>;
}

/**
 * Warns of up to five names that no searched record has: names at the top level, where fields of `data` must be written
 * `data.…`, and names within `data`, at any depth. The latter are skipped if no record was found in time.
 */
export async function fieldWarnings(place: Place, filter: Filter, time: Allowance): Promise<FieldWarnings> {
  const warnings: Warning[] = [];
  const missing = new Set<string>();
  const topNames = topNamesIn(filter);
  for (const { field, path } of topNames.slice(0, MOST_NAMES)) {
    const who = await havingNone(place, rootOf(field), time);
    if (who === undefined) continue;
    missing.add(field);
    warnings.push({
      path,
      detail: `${who} has the field "${shown(rootOf(field))}"${await hintFor(place, field, time)}.`,
    });
  }
  const inner = namesInData(filter).slice(0, MOST_NAMES - warnings.length);
  if (inner.length === 0 || !(await isSomewhere(place, '_id', time))) return { warnings, missing };
  for (const { field, path } of inner) {
    const who = await havingNone(place, field, time);
    if (who === undefined) continue;
    missing.add(field);
    warnings.push({ path, detail: `${who} has the field "${shown(field)}"; is its name right?` });
  }
  return { warnings, missing };
}

/** Suggests what a name at the top level may have been meant to be. Hidden fields are neither looked up nor suggested. */
async function hintFor(place: Place, field: string, time: Allowance): Promise<string> {
  const name = rootOf(field);
  if (isHidden(`data.${name}`)) return '';
  const [right, known] = [`data.${field}`, `data.${name}`].map(shown);
  const some = right === known ? 'which some have' : `since some have "${known}"`;
  return (await isSomewhere(place, `data.${name}`, time))
    ? `; write "${right}", ${some}`
    : `; a field of "data" is written "${right}"`;
}

/** Each field within `data`, including fields of list elements, with the place of its first use. */
export function namesInData(filter: Filter): { field: string; path: string }[] {
  const names = new Map<string, { field: string; path: string }>();
  for (const { field, place } of withinElements(partsOf(filter)))
    if (field.startsWith('data.') && !names.has(field)) names.set(field, { field, path: shown(place) });
  return [...names.values()];
}

/** Each name that is not a field of records, with the place of its first use. */
export function topNamesIn(filter: Filter): { field: string; path: string }[] {
  const topNames = new Map<string, { field: string; path: string }>();
  for (const { field, place } of partsOf(filter)) {
    const name = rootOf(field);
    if (!OF_RECORDS.has(name) && !topNames.has(name)) topNames.set(name, { field, path: shown(place) });
  }
  return [...topNames.values()];
}

/**
 * Names the records that were searched, such as `No member`, if none of them has the field `name`. Undefined if one has
 * it, or if the time runs out before the newest records are searched. They are searched first, which is quick.
 */
async function havingNone(place: Place, name: string, time: Allowance): Promise<string | undefined> {
  const { records, tenant, kind, session } = place;
  const newest = [{ $match: tenant }, { $sort: { _id: -1 } }, { $limit: NEWEST }] as const;
  const stages = [
    ...newest,
    { $match: { [name]: { $exists: true } } },
    { $limit: 1 },
    { $project: { _id: 1 } },
  ];
  const some = await time.ask((limit) => records.aggregate(stages, { session, ...limit }).toArray());
  if (some?.length !== 0) return undefined;
  const isThere = await isSomewhere(place, name, time);
  if (isThere === undefined) return `None of the newest ${count(NEWEST)} ${pluralOfKind(kind)}`;
  return isThere ? undefined : `No ${kind}`;
}

/** Undefined if the time runs out. */
async function isSomewhere(
  { records, tenant, session }: Place,
  path: string,
  time: Allowance,
): Promise<boolean | undefined> {
  const query = { $and: [tenant, { [path]: { $exists: true } }] };
  const find = (limit: { maxTimeMS: number }) =>
    records.findOne(query, { projection: { _id: 1 }, session, ...limit });
  const found = await time.ask(find, LOOK_MS);
  return found === undefined ? undefined : found !== null;
}

function rootOf(field: string): string {
  return field.split('.', 1)[0]!;
}

/** The number of ids shown for each group. */
export const SHOWN_IDS = 10;

/** A group of records: their number, and the first ids. */
export interface Group {
  /** Null if the time ran out. */
  count: number | null;
  ids: string[];
  /** Set if the count is an estimate: it is accurate to within this many records in 95 of 100 cases. */
  error?: number;
}

/**
 * Records that match the filter. If another version is in force: records that would start to match, records that would stop
 * matching, and records that match both filters and would show a field differently.
 */
export const COUNTED = ['matching', 'entering', 'leaving', 'concerned'] as const;

export type Counted = (typeof COUNTED)[number];

/** The number of records of a group in a sample, and their first ids. */
interface Sampled {
  hits: number;
  ids: string[];
}

/** Randomly chosen records: how many were examined, and the hits of each group. */
export interface Sample<Name extends string> {
  examined: number;
  groups: Record<Name, Sampled>;
}

/**
 * Examines about `size` of the `records` records, each equally likely to be chosen. They are chosen along an index, where a
 * large record takes no more room than a small one. MongoDB's own `$sample` walks the pages of its storage, and finds a
 * record that is ten times as large ten times as often. Choosing reads every entry of the index: 1.5 s for a million.
 * Undefined if the time runs out.
 */
export async function sampleRecords<Name extends string>(
  place: Place,
  conditions: Record<Name, Filter>,
  { records, size, time }: { records: number; size: number; time: Allowance },
): Promise<Sample<Name> | undefined> {
  const chosen = await chooseSome(place, Math.min(1, size / Math.max(1, records)), time);
  return chosen && judge(place, conditions, chosen, time);
}

async function chooseSome(
  { records, tenant, session }: Place,
  share: number,
  time: Allowance,
): Promise<unknown[] | undefined> {
  const stages = [{ $match: tenant }, { $project: { _id: 1 } }, { $match: { $sampleRate: share } }];
  const found = await time.ask((limit) => records.aggregate(stages, { session, ...limit }).toArray());
  return found?.map(({ _id }) => _id as unknown);
}

async function judge<Name extends string>(
  { records, tenant, session }: Place,
  conditions: Record<Name, Filter>,
  chosen: unknown[],
  time: Allowance,
): Promise<Sample<Name> | undefined> {
  const names = Object.keys(conditions) as Name[];
  const facets = Object.fromEntries(names.map((name) => [name, counted(conditions[name])]));
  const stages = [
    { $match: { $and: [tenant, { _id: { $in: chosen } }] } },
    { $facet: { all: counted({}), ...facets } },
  ];
  const rows = await time.ask((limit) =>
    records.aggregate<Record<string, Counts[]>>(stages, { session, ...limit }).toArray(),
  );
  if (rows === undefined) return undefined;
  const of = (name: string): Sampled => {
    const { hits = 0, ids = [] } = rows[0]?.[name]?.[0] ?? {};
    return { hits, ids: ids.map((id) => idTextOf(id) ?? textOf(id)) };
  };
  const groups = Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Sampled>;
  return { examined: of('all').hits, groups };
}

interface Counts {
  hits: number;
  ids: unknown[];
}

function counted(condition: Filter): mongo.Document[] {
  const first = { $firstN: { input: '$id', n: SHOWN_IDS } };
  return [{ $match: condition }, { $group: { _id: null, hits: { $sum: 1 }, ids: first } }];
}

/** Standard deviations of the normal distribution within which 95 of 100 estimates lie. */
const WITHIN = 2;

/** An estimated number of records, and its error in 95 of 100 cases. */
interface Estimate {
  count: number;
  error: number;
}

/**
 * Estimates how many of `of` records are in a group, given `hits` among `examined` randomly chosen records. The error
 * is the larger side of Wilson's interval, which holds for rare groups too: no hit among 10,000 does not mean that
 * there is none. If all records were examined, the count is exact.
 */
export function estimated(hits: number, examined: number, of: number): Estimate {
  if (examined >= of) return { count: hits, error: 0 };
  if (examined === 0) return { count: 0, error: of };
  const chosen = (examined * (of - 1)) / (of - examined);
  const share = hits / examined;
  const square = WITHIN ** 2 / chosen;
  const middle = (share + square / 2) / (1 + square);
  const half = Math.sqrt((share * (1 - share) + square / 4) * square) / (1 + square);
  const off = Math.max(middle + half - share, share - (middle - half));
  return { count: Math.round(share * of), error: Math.min(of, Math.ceil(off * of + 1 / 2)) };
}
