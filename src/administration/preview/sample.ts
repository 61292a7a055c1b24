import type { mongo } from 'mongoose';
import type { Filter } from '../../application/index.js';
import { idTextOf } from '../../record/index.js';
import type { Allowance } from './allowance.js';
import { SHOWN_IDS } from './group.js';
import type { Place } from './place.js';

/** What was found of a group in a sample. */
export interface Sampled {
  hits: number;
  ids: string[];
}

/** Records chosen at random: how many were looked at, and what was found of each group. */
export interface Sample<Name extends string> {
  looked: number;
  groups: Record<Name, Sampled>;
}

/**
 * Looks at about `size` of so many records, each as likely as any other. They are chosen along an index, where a large
 * record has no more room than a small one: MongoDB's own `$sample` goes by pages of its storage, and finds records that are
 * ten times as large ten times as often. That passes over every entry of the index, 1.5 s for a million; undefined where
 * the time is over before.
 */
export async function lookAtSome<Name extends string>(
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
    return { hits, ids: ids.map((id) => idTextOf(id) ?? String(id)) };
  };
  const groups = Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Sampled>;
  return { looked: of('all').hits, groups };
}

interface Counts {
  hits: number;
  ids: unknown[];
}

function counted(condition: Filter): mongo.Document[] {
  const first = { $firstN: { input: '$id', n: SHOWN_IDS } };
  return [{ $match: condition }, { $group: { _id: null, hits: { $sum: 1 }, ids: first } }];
}
