import type { mongo } from 'mongoose';
import type { Filter } from '../application/index.js';
import type { Kind, Tenant } from '../record/index.js';
import { refusalOf } from './filter-trial.js';
import { Allowance, inPlace, type Place, together } from './preview/place.js';
import { fieldWarnings, type Warning } from './preview/sample.js';
import { countsOf, type Effort, type PreviewCounts, type StatedIndex } from './preview/counts.js';
import { type FilterPlan, planOf } from './filter-indexes.js';

/** The sample size of an estimate: its error is at most 1 % of all records. */
const SAMPLE_SIZE = 10_000;
const PLAN_MS = 700;
const WARNINGS_MS = 2000;

/** What a filter does, before it is saved. */
export interface Preview extends PreviewCounts {
  /** How the records that match are found; null where MongoDB had no time to say. */
  plan: FilterPlan | null;
  /** What is allowed, and hardly what was meant. */
  warnings: Warning[];
}

interface PreviewOptions {
  /** The filter that it is compared with. */
  inForce?: Filter | undefined;
  /** Milliseconds for the exact counts together, 0 for none; then they are estimated, for which there are as many again. */
  maxTimeMS: number;
  /** The same for the estimate, where it is another. */
  estimateMs?: number;
  /** The sample size of an estimate. */
  sampleSize?: number;
  /** Aborts its queries, since no caller waits for them any more. */
  signal?: AbortSignal;
}

/**
 * Counts what matches a filter and what does not, who enters and who leaves; estimates where that takes too long, and tells
 * what it knows where that does, too. Throws 400 where MongoDB refuses the filter.
 */
export async function previewFilter(
  db: mongo.Db,
  of: Tenant & { kind: Kind },
  filter: Filter,
  { inForce, maxTimeMS, estimateMs = maxTimeMS, sampleSize = SAMPLE_SIZE, signal }: PreviewOptions,
): Promise<Preview> {
  try {
    return await inPlace(db, of, signal, async (place) => {
      const effort = { exactMs: maxTimeMS, estimateMs, sampleSize };
      const [{ plan, ...counted }, { warnings, missing }] = await together(place, [
        countedByPlan(place, filter, inForce, effort),
        fieldWarnings(place, filter, new Allowance(WARNINGS_MS)),
      ]);
      const isUseless = Object.keys(plan?.advice ?? {}).some((field) => missing.has(field));
      return { ...counted, plan: plan && (isUseless ? { ...plan, advice: null } : plan), warnings };
    });
  } catch (error) {
    throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/** Of a preview for which MongoDB has given no answer at all in time. */
export function nothingKnown(inForce: Filter | undefined): Preview {
  const unknown = { count: null, ids: [] };
  const moving = inForce === undefined ? undefined : unknown;
  return {
    ...{ records: null, matching: unknown, others: unknown, entering: moving, leaving: moving },
    ...{ restamps: null, error: undefined, isCutOff: true, plan: null, warnings: [] },
  };
}

async function countedByPlan(
  place: Place,
  filter: Filter,
  inForce: Filter | undefined,
  effort: Effort,
): Promise<PreviewCounts & Pick<Preview, 'plan'>> {
  const time = new Allowance(PLAN_MS);
  const plan = await planOf(place, filter, time);
  const before = inForce === undefined ? undefined : await planOf(place, inForce, time);
  const stated = { filter: statedFor(plan), inForce: statedFor(before) };
  return { ...(await countsOf(place, filter, inForce, { ...effort, stated })), plan: plan ?? null };
}

/** Where it goes along several indexes, MongoDB finds its way itself. */
function statedFor(plan: FilterPlan | undefined): StatedIndex | undefined {
  const [index, ...others] = plan?.indexes ?? [];
  if (plan === undefined || index === undefined || others.length > 0) return undefined;
  return { hint: index, serves: !plan.readsEveryRecord };
}
