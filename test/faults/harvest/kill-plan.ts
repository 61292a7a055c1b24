import type { Random } from '../plan/index.js';

export const COPY_FORMS = ['sqlite', 'ndjson', 'mongodb', 'postgres'] as const;

export type CopyForm = (typeof COPY_FORMS)[number];

/** At which step a harvest kills itself, and how often that step goes well before. `share`: of a page that is written. */
export interface HarvestFailpoint {
  step: string;
  times: number;
  share: number;
}

/** What happens to one process. */
export interface KilledLife {
  startsOver: boolean;
  /** Whether the service forgets its hard deletes before. */
  forgets: boolean;
  failpoint: HarvestFailpoint | undefined;
  /** Milliseconds after which it is killed from outside, if it has not killed itself. */
  killedAfter: number;
}

const STEPS = ['before apply', 'behind apply', 'before commit', 'page', 'before sweep', 'behind sweep'];
const FILE_STEPS = ['before rename', 'behind rename'];

/** Three to six processes that are killed, at a named step or at any moment. */
export function killPlan(random: Random, form: CopyForm): KilledLife[] {
  const steps = form === 'ndjson' ? [...STEPS, ...FILE_STEPS] : STEPS;
  return Array.from({ length: 3 + random.below(4) }, () => ({
    startsOver: random.chance(0.2),
    forgets: random.chance(0.25),
    failpoint: random.chance(0.6)
      ? { step: random.pick(steps), times: random.below(8), share: random.next() }
      : undefined,
    killedAfter: random.below(random.chance(0.5) ? 60 : 400),
  }));
}
