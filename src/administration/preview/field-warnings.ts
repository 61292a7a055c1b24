import { type Filter, partsOf } from '../../application/index.js';
import { count, shown } from '../../common/index.js';
import type { Allowance } from './allowance.js';
import type { Place } from './place.js';

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

/** Warns of names at the top of the record that no record has: the fields of `data` are written `data.…`. */
export async function fieldWarnings(place: Place, filter: Filter, time: Allowance): Promise<Warning[]> {
  const warnings: Warning[] = [];
  for (const { field, path } of strangersIn(filter).slice(0, MOST_NAMES)) {
    const name = rootOf(field);
    const who = await havingNone(place, name, time);
    if (who === undefined) continue;
    const inData = `data.${field}`;
    const hint = (await isSomewhere(place, `data.${name}`, time))
      ? `write "${shown(inData)}", since some have "${shown(`data.${name}`)}"`
      : `a field of "data" is written "${shown(inData)}"`;
    warnings.push({ path, detail: `${who} has the field "${shown(name)}"; ${hint}.` });
  }
  return warnings;
}

/** Each name that is none of a record's own, where it stands first. */
export function strangersIn(filter: Filter): { field: string; path: string }[] {
  const strangers = new Map<string, { field: string; path: string }>();
  for (const { field, place } of partsOf(filter)) {
    const name = rootOf(field);
    if (!OF_RECORDS.has(name) && !strangers.has(name)) strangers.set(name, { field, path: shown(place) });
  }
  return [...strangers.values()];
}

/** Who has nothing under a name; undefined where somebody has, or there is no time to look. */
async function havingNone(place: Place, name: string, time: Allowance): Promise<string | undefined> {
  const { records, tenant, kind, session } = place;
  const has = { [name]: { $exists: true } };
  const projection = { _id: 1 };
  const found = await time.ask(
    (limit) => records.findOne({ $and: [tenant, has] }, { projection, session, ...limit }),
    LOOK_MS,
  );
  if (found !== undefined) return found === null ? `No ${kind}` : undefined;
  const newest = [{ $match: tenant }, { $sort: { _id: -1 } }, { $limit: NEWEST }] as const;
  const stages = [...newest, { $match: has }, { $limit: 1 }, { $project: projection }];
  const some = await time.ask((limit) => records.aggregate(stages, { session, ...limit }).toArray());
  return some?.length === 0 ? `None of the newest ${count(NEWEST)} ${kind}s` : undefined;
}

async function isSomewhere(
  { records, tenant, session }: Place,
  path: string,
  time: Allowance,
): Promise<boolean> {
  const query = { $and: [tenant, { [path]: { $exists: true } }] };
  const find = (limit: { maxTimeMS: number }) =>
    records.findOne(query, { projection: { _id: 1 }, session, ...limit });
  return ((await time.ask(find, LOOK_MS)) ?? null) !== null;
}

function rootOf(field: string): string {
  return field.split('.', 1)[0]!;
}
