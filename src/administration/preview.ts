import type { mongo } from 'mongoose';
import type { Kind } from '../kinds/index.js';
import type { Tenant } from '../record/index.js';
import { refusalOf } from './filter-trial.js';
import { Allowance, withPlace, type Place, together } from './preview/place.js';
import { fieldWarnings, type Warning } from './preview/sample.js';
import { type PreviewSample, samplesOf } from './preview/samples.js';
import { countsOf, type Effort, type PreviewCounts, type StatedIndex } from './preview/counts.js';
import { type FilterPlan, planOf } from './filter-indexes.js';
import type { ServiceVersion } from './service-versions.js';

/** The sample size of an estimate: in 95 of 100 cases, the error is at most 1 % of all records. */
const SAMPLE_SIZE = 10_000;
const PLAN_MS = 700;
const WARNINGS_MS = 2000;
/** Time limit of the samples, in ms: records that are re-stamped may be hard to find if there are few. */
const SAMPLES_MS = 1500;

/** The effect of a filter and of the fields that are shown, before they are saved. */
export interface Preview extends PreviewCounts {
  /** How the matching records are found; null if MongoDB did not answer in time. */
  plan: FilterPlan | null;
  /** What the filter contains that is allowed but probably not intended. */
  warnings: Warning[];
  /** Some of the records that are re-stamped. */
  samples: PreviewSample[];
}

interface PreviewOptions {
  /** The version to compare with. */
  inForce?: ServiceVersion | undefined;
  /** Time limit of all exact counts together, in ms; 0 skips them. The estimate that replaces them has as long again. */
  maxTimeMS: number;
  /** Time limit of the estimate in ms, if it differs. */
  estimateMs?: number;
  /** The sample size of an estimate. */
  sampleSize?: number;
  /** Aborts the queries when no caller waits for them any more. */
  signal?: AbortSignal;
}

/**
 * Counts the records that match a version, that do not match, that enter, that leave, and that show other fields. Counts that
 * take too long are estimated, and are null if the estimate takes too long as well. Throws 400 if MongoDB refuses the filter.
 */
export async function previewFilter(
  db: mongo.Db,
  of: Tenant & { kind: Kind },
  wanted: ServiceVersion,
  { inForce, maxTimeMS, estimateMs = maxTimeMS, sampleSize = SAMPLE_SIZE, signal }: PreviewOptions,
): Promise<Preview> {
  const { filter } = wanted;
  try {
    return await withPlace(db, of, signal, async (place) => {
      const effort = { exactMs: maxTimeMS, estimateMs, sampleSize };
      const [{ plan, ...counted }, { warnings, missing }, samples] = await together(place, [
        countedByPlan(place, wanted, inForce, effort),
        fieldWarnings(place, filter, new Allowance(WARNINGS_MS)),
        samplesOf(place, wanted, inForce, new Allowance(Math.min(SAMPLES_MS, maxTimeMS))),
      ]);
      const isUseless = Object.keys(plan?.advice ?? {}).some((field) => missing.has(field));
      return { ...counted, plan: plan && (isUseless ? { ...plan, advice: null } : plan), warnings, samples };
    });
  } catch (error) {
    throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/** The preview if MongoDB has returned no result in time. */
export function nothingKnown(inForce: ServiceVersion | undefined): Preview {
  const unknown = { count: null, ids: [] };
  const moving = inForce === undefined ? undefined : unknown;
  return {
    ...{ records: null, matching: unknown, others: unknown },
    ...{ entering: moving, leaving: moving, concerned: moving },
    ...{ restamps: null, error: undefined, isCutOff: true, plan: null, warnings: [], samples: [] },
  };
}

async function countedByPlan(
  place: Place,
  wanted: ServiceVersion,
  inForce: ServiceVersion | undefined,
  effort: Effort,
): Promise<PreviewCounts & Pick<Preview, 'plan'>> {
  const time = new Allowance(PLAN_MS);
  const plan = await planOf(place, wanted.filter, time);
  const before = inForce === undefined ? undefined : await planOf(place, inForce.filter, time);
  const stated = { filter: statedFor(plan), inForce: statedFor(before) };
  return { ...(await countsOf(place, wanted, inForce, { ...effort, stated })), plan: plan ?? null };
}

/** No index is stated if the plan uses several; MongoDB then chooses. */
function statedFor(plan: FilterPlan | undefined): StatedIndex | undefined {
  const [index, ...others] = plan?.indexes ?? [];
  if (plan === undefined || index === undefined || others.length > 0) return undefined;
  return { hint: index, serves: !plan.readsEveryRecord };
}
