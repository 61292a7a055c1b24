import type { Filter, IndexKey } from '../../application/index.js';
import { idTextOf } from '../../record/index.js';
import type { Allowance } from './allowance.js';
import { SHOWN_IDS } from './group.js';
import type { Place } from './place.js';

/** What was found out of a group in the time that there was. */
export interface Known {
  count?: number | undefined;
  ids?: string[] | undefined;
}

/** Counts all records of the place, along an index and without looking at one: 0.2 s for a million. */
export function countAll({ records, tenant, session }: Place, time: Allowance): Promise<number | undefined> {
  return time.ask((limit) => records.countDocuments(tenant, { ...limit, session }));
}

/** How long a group may be looked for, and along which index, where that is known. */
export interface Search {
  time: Allowance;
  /** Milliseconds for the ids, where that is less than there is. */
  idsMs?: number;
  hint: IndexKey | undefined;
}

/** Counts what fulfils a condition, and finds the first ids. */
export async function countGroup(place: Place, condition: Filter, search: Search): Promise<Known> {
  const ids = await firstIds(place, condition, search);
  if (ids === undefined) return {};
  if (ids.length < SHOWN_IDS) return { count: ids.length, ids };
  const { records, tenant, session } = place;
  const options = { session, ...along(search) };
  const query = { $and: [tenant, condition] };
  return {
    ids,
    count: await search.time.ask((limit) => records.countDocuments(query, { ...options, ...limit })),
  };
}

/** In the order of their `_id`. */
export async function firstIds(
  { records, tenant, session }: Place,
  condition: Filter,
  search: Search,
): Promise<string[] | undefined> {
  const wanted = { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, session } as const;
  const find = (limit: { maxTimeMS: number }) =>
    records.find({ $and: [tenant, condition] }, { ...wanted, ...along(search), ...limit }).toArray();
  const found = await search.time.ask(find, search.idsMs);
  return found?.map(({ id }) => idTextOf(id) ?? String(id));
}

function along({ hint }: Search): { hint?: IndexKey } {
  return hint === undefined ? {} : { hint };
}
