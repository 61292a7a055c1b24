import { type Filter, isHidden, partsOf, withinElements } from '../../application/plain.js';
import { count, shown } from '../../common/index.js';
import type { Allowance, Place } from './place.js';

/** Something in a filter that is allowed, and hardly what was meant. */
export interface Warning {
  /** Where it stands in the filter, such as `$or[1].category`. */
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
/** For one look at all records, which ends where one has the field (milliseconds). */
const LOOK_MS = 500;

/** What is warned of, and the fields that no record has: an index over one would serve nothing. */
interface FieldWarnings {
  warnings: Warning[];
  missing: Set<string>;
}

/**
 * Warns of names that no record has: those at the top of the record, where the fields of `data` are written `data.…`, and those
 * within `data`, at any depth. Where there is no record yet, none of the latter.
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

/** What may have been meant by a name at the top. What no answer shows is not looked for. */
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

/** Who has nothing under a name; undefined where somebody has, or there is no time to look. The newest tell it quickly. */
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
  if (isThere === undefined) return `None of the newest ${count(NEWEST)} ${kind}s`;
  return isThere ? undefined : `No ${kind}`;
}

/** Undefined where there is no time to look. */
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
