import type { Kind } from '../../../src/kinds/index.js';
import { HOUSE_KINDS } from './created-kinds.js';
import { type Content, someContent } from './keys.js';
import type { Random } from './random.js';
import { insertedStamp, type Stamp, updatedStamp } from './stamps.js';

/** A part of the records of a flood, from 0 to 1. */
export interface FloodPart {
  start: number;
  end: number;
}

/** What becomes of some of the records of a flood. */
export type FloodStep =
  | ({ to: 'anotherContent'; stamp: Stamp; content: Content } & FloodPart)
  | ({ to: 'otherApplication' | 'backAgain'; stamp: Stamp } & FloodPart)
  | ({ to: 'nothing' } & FloodPart);

/** Thousands of records of one kind and application that come at once, change at once, and go. */
export interface FloodPlan {
  kind: Kind;
  isElsewhere: boolean;
  count: number;
  /** How many of them come without an `id`. */
  without: number;
  stamp: Stamp;
  content: Content;
  /** Milliseconds between two steps. */
  pauses: number[];
  steps: FloodStep[];
  /** About how many of them stay. */
  kept: number;
}

const LEAST = 2500;
const MORE = 1500;
const MOST_KEPT = 10;
const LEAST_KEPT = 3;
const LONGEST_PAUSE_MS = 1500;
const MOST_STEPS = 4;

const STEPS: Record<FloodStep['to'], number> = {
  anotherContent: 4,
  otherApplication: 4,
  backAgain: 2,
  nothing: 2,
};

export function someFlood(random: Random): FloodPlan {
  const steps = Array.from({ length: 1 + random.below(MOST_STEPS) }, () => someStep(random));
  return {
    kind: random.pick(HOUSE_KINDS),
    isElsewhere: random.chance(0.4),
    count: LEAST + random.below(MORE),
    without: random.chance(0.3) ? 100 + random.below(400) : 0,
    stamp: insertedStamp(random),
    content: someContent(random),
    pauses: steps.map(() => (random.chance(0.5) ? 0 : random.below(LONGEST_PAUSE_MS))),
    steps,
    kept: LEAST_KEPT + random.below(MOST_KEPT - LEAST_KEPT),
  };
}

function someStep(random: Random): FloodStep {
  const part = somePart(random);
  const to = random.weighted(STEPS);
  if (to === 'nothing') return { to, ...part };
  const stamp = random.chance(0.4) ? 'kept' : updatedStamp(random);
  return to === 'anotherContent'
    ? { to, ...part, stamp, content: someContent(random) }
    : { to, ...part, stamp };
}

/** Now and then all of them. */
function somePart(random: Random): FloodPart {
  if (random.chance(0.2)) return { start: 0, end: 1 };
  const start = 0.8 * random.next();
  return { start, end: start + (1 - start) * random.next() };
}
