import type { mongo } from 'mongoose';
import type { Filter } from '../application/index.js';
import { isTimeout } from '../database/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { refusal } from './filter-trial.js';

/** So many ids of each group are shown. */
const SHOWN_IDS = 10;
/** An estimate looks at so many records of the collection, chosen at random. */
const SAMPLE = 10_000;
/** Two standard deviations: 95 of 100 estimates lie within. */
const CONFIDENCE = 2;

/** Records of a group: how many, and the ids of the first of them. */
export interface Group {
  count: number;
  ids: string[];
}

/** What a filter does to the records of one application and kind. */
export interface Preview {
  records: number;
  matching: Group;
  others: Group;
  /** Beside the filter in force, where there is one: who would begin to match, and who would cease to. */
  entering: Group | undefined;
  leaving: Group | undefined;
  /** How many records are stamped anew, so that consumers are told. */
  restamps: number;
  /** The counts are estimates, each right to this many records in 95 of 100 cases; undefined where they are exact. */
  error: number | undefined;
}

export interface PreviewOptions {
  /** The filter that is served now. */
  inForce?: Filter | undefined;
  /** Milliseconds for the exact counts together; then they are estimated, for which there are as many again. */
  maxTimeMS: number;
  /** The same for the estimate, where it is another. */
  estimateMs?: number;
}

type Conditions = Record<'matching' | 'others' | 'entering' | 'leaving', Filter>;

/** Counts what matches a filter and what does not, who enters and who leaves; estimates where that takes too long. */
export async function previewFilter(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  filter: Filter,
  { inForce, maxTimeMS, estimateMs = maxTimeMS }: PreviewOptions,
): Promise<Preview> {
  const place = { records: db.collection(COLLECTION_OF[kind]), tenant: { organizationid, appid } };
  const conditions = conditionsOf(filter, inForce);
  try {
    return previewOf(
      await exactGroups({ ...place, time: timeFor(maxTimeMS) }, conditions),
      inForce !== undefined,
    );
  } catch (error) {
    if (!isTimeout(error)) throw refusal(error) ?? error;
  }
  try {
    const { groups, error } = await estimatedGroups({ ...place, time: timeFor(estimateMs) }, conditions);
    return { ...previewOf(groups, inForce !== undefined), error };
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

/** `$nor` is what tells what does not match: it is right for fields that are missing, too. */
function conditionsOf(filter: Filter, inForce: Filter = filter): Conditions {
  return {
    matching: filter,
    others: { $nor: [filter] },
    entering: { $and: [filter, { $nor: [inForce] }] },
    leaving: { $and: [inForce, { $nor: [filter] }] },
  };
}

interface Place {
  records: mongo.Collection;
  tenant: Tenant;
  /** What is left for the commands together, for the next of them. */
  time: () => { maxTimeMS: number };
}

/** Each command gets what those before it have left of the time. */
function timeFor(ms: number): Place['time'] {
  const ends = performance.now() + ms;
  return () => ({ maxTimeMS: Math.max(1, Math.ceil(ends - performance.now())) });
}

type Groups = Record<keyof Conditions, Group>;

async function exactGroups(place: Place, conditions: Conditions): Promise<Groups> {
  const { records, tenant, time } = place;
  const names = Object.keys(conditions) as (keyof Conditions)[];
  const found = await Promise.all(
    names.map(async (name) => {
      const ids = await idsOf(place, conditions[name]);
      if (ids.length < SHOWN_IDS || name === 'others') return [name, { count: ids.length, ids }] as const;
      const query = { $and: [tenant, conditions[name]] };
      return [name, { count: await records.countDocuments(query, time()), ids }] as const;
    }),
  );
  const groups = Object.fromEntries(found) as Groups;
  const total = await records.countDocuments(tenant, time());
  return { ...groups, others: { ...groups.others, count: total - groups.matching.count } };
}

/** One pass over records chosen at random; the share of each group times the number of records. */
async function estimatedGroups(
  { records, tenant, time }: Place,
  conditions: Conditions,
): Promise<{ groups: Groups; error: number }> {
  const names = Object.keys(conditions) as (keyof Conditions)[];
  const counted = (condition: Filter) => [
    { $match: condition },
    { $group: { _id: null, count: { $sum: 1 }, ids: { $firstN: { input: '$id', n: SHOWN_IDS } } } },
  ];
  const facets = Object.fromEntries(names.map((name) => [name, counted(conditions[name])]));
  const pipeline = [
    { $sample: { size: SAMPLE } },
    { $match: tenant },
    { $facet: { all: counted({}), ...facets } },
  ];
  const [sample] = await records.aggregate<Record<string, Partial<Group>[]>>(pipeline, time()).toArray();
  const looked = sample?.['all']?.[0]?.count ?? 0;
  const total = await records.countDocuments(tenant, time());
  const groups = Object.fromEntries(
    names.map((name) => {
      const { count = 0, ids = [] } = sample?.[name]?.[0] ?? {};
      return [name, { count: looked === 0 ? 0 : Math.round((count / looked) * total), ids: ids.map(String) }];
    }),
  ) as Groups;
  const error = looked === 0 ? total : Math.ceil((CONFIDENCE * total) / (2 * Math.sqrt(looked)));
  return { groups, error };
}

async function idsOf({ records, tenant, time }: Place, condition: Filter): Promise<string[]> {
  const options = { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, ...time() } as const;
  const found = await records.find({ $and: [tenant, condition] }, options).toArray();
  return found.map(({ id }) => String(id));
}

function previewOf({ matching, others, entering, leaving }: Groups, isChange: boolean): Preview {
  return {
    records: matching.count + others.count,
    matching,
    others,
    entering: isChange ? entering : undefined,
    leaving: isChange ? leaving : undefined,
    restamps: isChange ? entering.count + leaving.count : 0,
    error: undefined,
  };
}
