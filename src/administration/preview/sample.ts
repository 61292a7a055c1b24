import type { mongo } from 'mongoose';
import type { Filter } from '../../application/index.js';
import { idTextOf } from '../../record/index.js';
import type { Allowance, Place } from './place.js';

/** The number of ids shown for each group. */
export const SHOWN_IDS = 10;

/** Records of a group: how many, and the ids of the first of them. */
export interface Group {
  /** Null where there was no time to find out. */
  count: number | null;
  ids: string[];
  /** The count is an estimate, right to this many records in 95 of 100 cases; absent where it is exact. */
  error?: number;
}

/** Who matches the filter; beside the filter in force, who would begin to match, and who would cease to. */
export const COUNTED = ['matching', 'entering', 'leaving'] as const;

export type Counted = (typeof COUNTED)[number];

/** What was found of a group in a sample. */
interface Sampled {
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

/** Standard deviations of the normal distribution within which 95 of 100 estimates lie. */
const WITHIN = 2;

/** A number of records that was concluded from some of them, and to how many it is right in 95 of 100 cases. */
interface Estimate {
  count: number;
  error: number;
}

/**
 * How many of so many records are in a group, where so many hits were found among those that were looked at, each of which
 * was as likely to be chosen as any other. The error is the greater side of Wilson's interval, which is right for rare
 * groups, too: none among 10,000 does not mean that there is none. Whoever looks at all of them knows.
 */
export function estimated(hits: number, looked: number, of: number): Estimate {
  if (looked >= of) return { count: hits, error: 0 };
  if (looked === 0) return { count: 0, error: of };
  const chosen = (looked * (of - 1)) / (of - looked);
  const share = hits / looked;
  const square = WITHIN ** 2 / chosen;
  const middle = (share + square / 2) / (1 + square);
  const half = Math.sqrt((share * (1 - share) + square / 4) * square) / (1 + square);
  const off = Math.max(middle + half - share, share - (middle - half));
  return { count: Math.round(share * of), error: Math.min(of, Math.ceil(off * of + 1 / 2)) };
}
