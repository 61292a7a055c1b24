import type { Filter } from '../../application/index.js';
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

/** Counts what fulfils a condition, and finds the first ids. */
export async function countGroup(place: Place, condition: Filter, time: Allowance): Promise<Known> {
  const ids = await firstIds(place, condition, time);
  if (ids === undefined) return {};
  if (ids.length < SHOWN_IDS) return { count: ids.length, ids };
  const { records, tenant, session } = place;
  const query = { $and: [tenant, condition] };
  return { ids, count: await time.ask((limit) => records.countDocuments(query, { ...limit, session })) };
}

/** In the order of their `_id`. */
export async function firstIds(
  { records, tenant, session }: Place,
  condition: Filter,
  time: Allowance,
  atMost?: number,
): Promise<string[] | undefined> {
  const wanted = { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, session } as const;
  const find = (limit: { maxTimeMS: number }) =>
    records.find({ $and: [tenant, condition] }, { ...wanted, ...limit }).toArray();
  return (await time.ask(find, atMost))?.map(({ id }) => idTextOf(id) ?? String(id));
}
