import type { Filter } from '../../application/index.js';
import { idTextOf } from '../../record/index.js';
import type { Allowance } from './allowance.js';
import { SHOWN_IDS } from './group.js';
import type { Place } from './place.js';

type Limit = { maxTimeMS: number };

/** The ids of more records than these are not sorted for the sake of the first of them. */
const MANY = 1000;

/** What was found out of a group in the time that there was. */
export interface Known {
  count?: number | undefined;
  ids?: string[] | undefined;
}

/** Counts all records of the place, along an index and without looking at one: 0.2 s for a million. */
export function countAll({ records, tenant, session }: Place, time: Allowance): Promise<number | undefined> {
  return time.ask((limit) => records.countDocuments(tenant, { ...limit, session }));
}

/** The index to go along: one that serves the condition, or the one along which all records lie. */
export interface StatedIndex {
  hint: string;
  serves: boolean;
}

/** How long a group may be looked for, and along which index, where that is known. */
export interface Search {
  time: Allowance;
  /** Milliseconds for the ids, where that is less than there is. */
  idsMs?: number;
  stated: StatedIndex | undefined;
}

/**
 * Counts what fulfils a condition, and finds the first ids. The index is stated: MongoDB would try all that it has on up to a
 * third of the collection first, where there is little to be found. Only for the ids of many it is left to choose.
 */
export async function countGroup(place: Place, condition: Filter, search: Search): Promise<Known> {
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
export async function firstIds(
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
